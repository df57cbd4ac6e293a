//! That no wrapper goes without a test.

use std::collections::BTreeSet;
use std::path::Path;

use acl_sys::Table;
use serial_test::serial;

use super::fake::{fake, reset};
use super::fake_table::table;
use super::promises::start;
use super::scene::use_everything;

/// The functions of ACL that the folder `api` takes out of the table.
pub(crate) fn wrapped() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api");
    let mut found = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for rest in text.split('.').filter(|rest| rest.starts_with("acl")) {
            let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            if rest[name.len()..].starts_with("()") {
                found.insert(name);
            }
        }
    }
    found
}

#[test]
#[serial]
fn every_function_that_is_wrapped_is_called_by_the_scene() {
    let mut called = BTreeSet::from(["aclGetRecentErrMsg".to_owned()]);
    let without = Table { aclFinalizeReference: None, aclrtCreateEventExWithFlag: None, ..table() };
    for table in [table(), without] {
        reset();
        use_everything(&start(&table).unwrap()).unwrap();
        let state = fake();
        assert_eq!((state.left(), state.initialised), (0, 0), "{:?}", state.live);
        assert_eq!(state.broken_rules, Vec::<String>::new());
        called.extend(state.log.iter().map(|call| (*call).to_owned()));
    }
    let wrapped = wrapped();
    assert!(wrapped.len() > 100, "{}", wrapped.len());
    assert_eq!(wrapped.difference(&called).collect::<Vec<_>>(), Vec::<&String>::new());
}

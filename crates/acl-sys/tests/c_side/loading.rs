//! Loading libraries that C programs made, with fewer symbols than ACL has.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use acl_sys::{
    ACL_SUCCESS, CannVersion, LIBRARY_VARIABLE, Library, LoadError, Machine, Origin, REQUIRED, Reason, Table,
    first_version, load, load_from,
};

use super::compiler::Language;

/// What the library answers as the number of devices.
const DEVICES: u32 = 3;

/// Two functions that do something, with the signatures that the header declares.
const WORKING: &str = "\
#include \"acl/acl.h\"
aclError aclrtGetDeviceCount(uint32_t *count) { *count = 3; return ACL_SUCCESS; }
const char *aclrtGetSocName(void) { return \"Ascend910B3\"; }
";

const MODELS: &str = "\
#include \"acl/acl.h\"
aclError aclmdlUnload(uint32_t model_id) { return model_id == 7 ? ACL_SUCCESS : ACL_ERROR_INVALID_MODEL_ID; }
";

/// A library with all required symbols but `without`, and two optional ones.
fn runtime_source(without: &[&str]) -> String {
    let mut source = WORKING.to_owned();
    // The header has prototypes of these that the stubs do not have, so C knows the stubs under other names.
    for name in REQUIRED.iter().filter(|name| !WORKING.contains(**name) && !without.contains(name)) {
        writeln!(source, "int stub_{name}(void) __asm__(\"{name}\"); int stub_{name}(void) {{ return 0; }}")
            .expect("a String takes everything");
    }
    source
}

/// Makes a library in `folder`.
fn make(folder: &Path, name: &str, source: &str) -> PathBuf {
    let path = folder.join(name);
    Language::c11().expect("these tests need a C compiler").shared_library(source, &path);
    path
}

/// Loads what a test has made.
fn load_made(place: &Path) -> Result<Library, LoadError> {
    // SAFETY: the place holds libraries from `make`, whose functions either have the prototypes of the header, checked by
    // the C compiler, or are never called.
    unsafe { load_from(place) }
}

/// Calls a function of [`WORKING`].
fn device_count(library: &Library) -> u32 {
    let count_devices = library.table().aclrtGetDeviceCount().expect("the library has it");
    let mut count = 0;
    // SAFETY: the function writes one `uint32_t` through the pointer, which points to one.
    let code = unsafe { count_devices(&raw mut count) };
    assert_eq!(code, ACL_SUCCESS);
    count
}

#[test]
fn what_a_library_has_can_be_called_and_what_it_lacks_is_unsupported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = make(folder.path(), "libascendcl.so", &runtime_source(&[]));
    let library = load_made(&path).expect("all required symbols are there");
    assert_eq!(library.files(), [path]);
    assert_eq!(device_count(&library), DEVICES);
    let error = library.table().aclrtMemPoolCreate().expect_err("the library has no pool");
    assert_eq!(error.symbol, "aclrtMemPoolCreate");
    assert!(library.is_supported("aclrtGetSocName") && !library.is_supported("aclrtMapMem"));
    let supported = Table::SYMBOLS.len() - library.missing().count();
    assert_eq!(supported, REQUIRED.len() + 1, "the required ones and the name of the chip");
}

#[test]
fn in_a_folder_models_come_from_the_library_beside_the_runtime() {
    let folder = tempfile::tempdir().expect("a folder");
    make(folder.path(), "libacl_rt.so", &runtime_source(&[]));
    make(folder.path(), "libacl_mdl.so", MODELS);
    for place in [folder.path().to_path_buf(), folder.path().join("libacl_rt.so")] {
        let library = load_made(&place).expect("the runtime is there");
        assert_eq!(library.files().len(), 2, "{}", place.display());
        let unload = library.table().aclmdlUnload().expect("it is in the second file");
        // SAFETY: the function takes a number and touches nothing.
        assert_eq!(unsafe { unload(7) }, ACL_SUCCESS);
    }
}

#[test]
fn a_file_that_is_no_library_is_reported_beside_one_that_is() {
    let folder = tempfile::tempdir().expect("a folder");
    make(folder.path(), "libacl_rt.so", &runtime_source(&[]));
    std::fs::write(folder.path().join("libacl_mdl.so"), "no library").expect("written");
    let library = load_made(folder.path()).expect("the runtime is there");
    let reason = library.not_opened().iter().find(|attempt| attempt.path.ends_with("libacl_mdl.so"));
    assert!(matches!(reason.expect("it was tried").reason, Reason::CannotOpen(_)));
}

#[test]
fn a_library_without_a_required_symbol_is_no_acl_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = make(folder.path(), "libascendcl.so", &runtime_source(&["aclrtMalloc", "aclrtFree"]));
    let error = load_made(&path).expect_err("two symbols are missing");
    let [attempt] = &error.attempts[..] else { panic!("one place was tried: {error}") };
    assert!(
        matches!(&attempt.reason, Reason::NotAcl { missing } if *missing == ["aclrtMalloc", "aclrtFree"]),
        "{error}"
    );
}

#[test]
fn an_empty_folder_is_an_error_that_lists_every_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = load_made(folder.path()).expect_err("nothing is there");
    assert!(error.attempts.iter().all(|attempt| matches!(attempt.reason, Reason::NotThere)));
    let text = error.to_string();
    for name in ["libascendcl.so", "libacl_rt.so", "libacl_mdl.so"] {
        let line = format!("\n  {} (as asked) is not there", folder.path().join(name).display());
        assert!(text.contains(&line), "{text}");
    }
}

/// Writes the library of [`runtime_source`] with one byte of its head changed.
fn make_changed(folder: &Path, offset: usize, byte: u8) -> PathBuf {
    let path = make(folder, "libascendcl.so", &runtime_source(&[]));
    let mut bytes = std::fs::read(&path).expect("it was made");
    bytes[offset] = byte;
    std::fs::write(&path, bytes).expect("written");
    path
}

#[test]
fn whatever_cannot_be_opened_is_an_error_with_the_path_and_the_words_of_the_system() {
    /// Where the head of a file says how wide a word is, and a file of 32 bits.
    const CLASS: usize = 4;
    const CLASS_32: u8 = 1;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("libascendcl.so");
    let written = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        path.clone()
    };
    let cases: [(&dyn Fn() -> PathBuf, &str); 4] = [
        (&|| written(b""), "file too short"),
        (&|| written(b"\x7fELF"), "file too short"),
        (&|| written(&[b'#'; 4096]), "invalid ELF header"),
        (&|| make_changed(folder.path(), CLASS, CLASS_32), "wrong ELF class: ELFCLASS32"),
    ];
    for (make, words) in cases {
        let path = make();
        let error = load_made(&path).expect_err("it is no library of this machine");
        let [attempt] = &error.attempts[..] else { panic!("one place was tried: {error}") };
        assert!(matches!(attempt.reason, Reason::CannotOpen(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains(path.to_str().expect("a plain path")) && text.contains(words), "{text}");
    }
}

#[test]
fn a_library_for_another_processor_is_told_from_one_that_is_not_there() {
    /// Where the head of a file has the processor.
    const MACHINE: usize = 18;

    let other = if cfg!(target_arch = "aarch64") { Machine::X86_64 } else { Machine::AARCH64 };
    let folder = tempfile::tempdir().expect("a folder");
    let number = u8::try_from(other.0).expect("a small number");
    let error =
        load_made(&make_changed(folder.path(), MACHINE, number)).expect_err("it is for another processor");
    let [attempt] = &error.attempts[..] else { panic!("one place was tried: {error}") };
    assert!(matches!(attempt.reason, Reason::OtherMachine { theirs, .. } if theirs == other), "{error}");
    assert!(error.to_string().contains(&format!("is for {other}, and this program for ")), "{error}");
}

#[test]
fn a_folder_in_the_place_of_a_file_is_no_library() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("libascendcl.so")).expect("made");
    make(folder.path(), "libacl_rt.so", &runtime_source(&[]));
    let library = load_made(folder.path()).expect("the runtime is beside it");
    assert!(matches!(library.not_opened()[0].reason, Reason::CannotOpen(_)));
    // Named itself it is the folder to look in, which is empty.
    let error = load_made(&folder.path().join("libascendcl.so")).expect_err("nothing is there");
    assert!(error.attempts.iter().all(|attempt| matches!(attempt.reason, Reason::NotThere)), "{error}");
}

#[test]
fn of_an_older_cann_all_is_missing_that_came_later_and_nothing_else() {
    let since = |symbol: &str| first_version(symbol).expect("it is in the table");
    let source = Table::SYMBOLS.iter().filter(|symbol| since(symbol) <= CannVersion::V8_5).fold(
        String::from("\n"),
        |mut source, name| {
            writeln!(
                source,
                "int stub_{name}(void) __asm__(\"{name}\"); int stub_{name}(void) {{ return 0; }}"
            )
            .expect("a String takes everything");
            source
        },
    );
    let folder = tempfile::tempdir().expect("a folder");
    let library =
        load_made(&make(folder.path(), "libascendcl.so", &source)).expect("it has what is required");
    let missing: Vec<_> = library.missing().collect();
    assert!(missing.len() > 30, "{missing:?}");
    for symbol in Table::SYMBOLS {
        assert_eq!(missing.contains(symbol), since(symbol) > CannVersion::V8_5, "{symbol}");
    }
    let text = library.table().aclrtMemPoolMallocAsync().expect_err("it is of 9.1").to_string();
    assert!(text.contains("since 9.1; update CANN"), "{text}");
}

/// Runs one of the tests below, which need variables, in a process of its own.
fn run_with(variables: &[(&str, &Path)], test: &str) {
    let mut command = Command::new(std::env::current_exe().expect("tests have a file"));
    command.args(["--exact", test, "--ignored"]).env_remove(LIBRARY_VARIABLE).env_remove("ASCEND_HOME_PATH");
    let output = command.envs(variables.iter().copied()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn the_variable_names_the_library_and_goes_before_the_home_of_cann() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = make(folder.path(), "libascendcl.so", &runtime_source(&[]));
    let home = tempfile::tempdir().expect("a folder");
    let test = "loading::child_loads_once_for_the_process";
    run_with(&[(LIBRARY_VARIABLE, &path), ("ASCEND_HOME_PATH", home.path())], test);
    run_with(&[(LIBRARY_VARIABLE, folder.path())], test);
}

#[test]
fn the_home_of_cann_is_asked_without_the_variable() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(home.path().join("lib64")).expect("made");
    make(&home.path().join("lib64"), "libascendcl.so", &runtime_source(&[]));
    run_with(&[("ASCEND_HOME_PATH", home.path())], "loading::child_loads_once_for_the_process");
}

#[test]
fn a_variable_that_names_nothing_is_an_error_and_nothing_else_is_tried() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(home.path().join("lib64")).expect("made");
    make(&home.path().join("lib64"), "libascendcl.so", &runtime_source(&[]));
    let nothing = home.path().join("nothing.so");
    run_with(
        &[(LIBRARY_VARIABLE, &nothing), ("ASCEND_HOME_PATH", home.path())],
        "loading::child_fails_at_the_variable",
    );
}

#[test]
#[ignore = "started by other tests in a process of its own, with variables set"]
fn child_loads_once_for_the_process() {
    let library = load().expect("the variables name a library");
    assert_eq!(device_count(library), DEVICES);
    let other = std::thread::spawn(load).join().expect("no panic").expect("loaded before");
    assert!(std::ptr::eq(library, other), "all threads share one library");
}

#[test]
#[ignore = "started by other tests in a process of its own, with variables set"]
fn child_fails_at_the_variable() {
    let error = load().expect_err("the variable names nothing");
    let [attempt] = &error.attempts[..] else { panic!("one place was tried: {error}") };
    assert_eq!(attempt.origin, Origin::LibraryVariable);
    assert!(matches!(attempt.reason, Reason::NotThere), "{error}");
    assert!(error.to_string().contains(LIBRARY_VARIABLE), "{error}");
}

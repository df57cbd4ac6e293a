//! A process of its own for each test: the test starts its own binary again, with only itself to run and the simulator in the
//! environment.

use std::any::type_name;
use std::process::{Command, Output};

use super::library;

/// Set in the process that does the work.
const INSIDE: &str = "BACKEND_ASCEND_INSIDE";

/// Where ACL is looked for, and nowhere else.
pub(crate) const LIBRARY: &str = "ASCEND_MEMPOOL_ACL_LIBRARY";

/// The functions that a library was made without.
const MISSING: &str = "BACKEND_ASCEND_MISSING";

/// A variable with its value.
pub(crate) type Variable = (&'static str, String);

/// Runs `body` on the simulator with these settings. To be called by a test with itself as `test`.
pub(crate) fn on_simulator<T: Fn()>(test: T, settings: &[(&'static str, &str)], body: impl FnOnce()) {
    let settings = settings.iter().map(|&(name, value)| (name, value.to_owned())).collect();
    on_simulators(test, [settings], body);
}

/// Runs `body` once for each of several settings of the simulator, each in a process of its own.
pub(crate) fn on_simulators<T: Fn()>(
    test: T,
    settings: impl IntoIterator<Item = Vec<Variable>>,
    body: impl FnOnce(),
) {
    let library = || library::simulator().to_str().expect("a path of UTF-8").to_owned();
    let with_library = |settings: Vec<Variable>| [vec![(LIBRARY, library())], settings].concat();
    in_processes(test, settings.into_iter().map(with_library), body);
}

/// Runs `body` once for each of several lists of functions, on a simulator whose library lacks those: an older CANN, or another.
pub(crate) fn on_libraries_without<T: Fn()>(test: T, lists: &[&[&'static str]], body: impl FnOnce()) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut environments = Vec::new();
    // In the process inside the library is there already.
    if std::env::var_os(INSIDE).is_none() {
        for (number, missing) in lists.iter().enumerate() {
            let path = folder.path().join(format!("without-{number}.so"));
            library::write_without(missing, &path);
            let path = path.to_str().expect("a path of UTF-8").to_owned();
            environments.push(vec![(LIBRARY, path), (MISSING, missing.join(","))]);
        }
    }
    in_processes(test, environments, body);
}

/// The functions that the library of this process was made without.
pub(crate) fn missing() -> Vec<String> {
    let missing = std::env::var(MISSING).unwrap_or_default();
    missing.split(',').filter(|symbol| !symbol.is_empty()).map(str::to_owned).collect()
}

/// Runs `body` once for each environment, in a process with those variables of ours and no others.
pub(crate) fn in_processes<T: Fn()>(
    _: T,
    environments: impl IntoIterator<Item = Vec<Variable>>,
    body: impl FnOnce(),
) {
    if std::env::var_os(INSIDE).is_some() {
        body();
        return;
    }
    // The path of the test function, without the name of this crate.
    let name = type_name::<T>().split_once("::").map_or("", |(_, rest)| rest);
    let ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("ASCEND_");
    for environment in environments {
        let mut command = Command::new(std::env::current_exe().expect("the test has a path"));
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
        for variable in std::env::vars_os().map(|(variable, _)| variable).filter(ours) {
            command.env_remove(variable);
        }
        let output = command.env(INSIDE, "1").envs(environment.iter().cloned()).output();
        check(name, &environment, &output.expect("the test starts itself again"));
    }
}

#[track_caller]
fn check(name: &str, environment: &[Variable], output: &Output) {
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // A wrong name would run no test at all.
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{name} with {environment:?}: {}\n{text}\n{errors}", output.status);
}

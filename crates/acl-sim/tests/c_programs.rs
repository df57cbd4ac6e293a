//! Programs in C, compiled against the headers of `acl-sys` and linked to the library that this build made: what a
//! real client sees. One process each, since a process has one runtime.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where this package is.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The folder in which cargo put the library: that of this test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test.parent().expect("the test lies in a folder").to_path_buf();
    assert!(folder.join("libascendcl.so").exists(), "no libascendcl.so in {}", folder.display());
    folder
}

/// A compiled program.
struct Program {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    fn compile(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join(name);
        let library = library_folder();
        let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
            .arg(&path)
            .arg(Path::new(ROOT).join("tests/c").join(name).with_extension("c"))
            .arg("-I")
            .arg(Path::new(ROOT).join("../acl-sys/headers"))
            .arg("-L")
            .arg(&library)
            .arg("-lascendcl")
            .arg(format!("-Wl,-rpath,{}", library.display()))
            .output()
            .expect("a compiler for C is installed as `cc`");
        assert_success(name, &output);
        Self { _folder: folder, path }
    }

    /// Runs with these settings of the simulator and no others.
    fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) {
        self.run_with(arguments, settings, String::new);
    }

    /// As [`Program::run`]; `explain` answers more words for a failure.
    fn run_with(&self, arguments: &[&str], settings: &[(&str, &str)], explain: impl Fn() -> String) {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ASCEND_") {
                command.env_remove(name);
            }
        }
        let library = library_folder();
        command.env("LD_LIBRARY_PATH", library).args(arguments).envs(settings.iter().copied());
        let output = command.output().expect("the program starts");
        let first = &arguments[..arguments.len().min(3)];
        assert_success(&format!("{first:?} {settings:?} {}", explain()), &output);
    }
}

#[track_caller]
fn assert_success(what: &str, output: &Output) {
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}: {}\n{text}\n{errors}", output.status);
    assert!(errors.is_empty(), "a library prints nothing: {errors}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialisation_is_counted_and_finalisation_drops_everything() {
        Program::compile("init").run(&[], &[]);
    }

    #[test]
    fn contexts_are_those_of_their_threads() {
        Program::compile("context").run(&[], &[]);
    }

    #[test]
    fn memory_is_accounted_copied_and_mapped_by_the_rules_of_cann() {
        Program::compile("memory").run(&[], &[("ASCEND_SIM_CAPACITY", "1GiB")]);
    }

    #[test]
    fn other_processes_take_their_share() {
        let program = Program::compile("foreign_use");
        program.run(&[], &[("ASCEND_SIM_CAPACITY", "1GiB"), ("ASCEND_SIM_FOREIGN_USE", "1000MiB")]);
    }

    #[test]
    fn streams_run_behind_the_caller() {
        Program::compile("stream").run(&[], &[]);
    }

    #[test]
    fn events_answer_by_their_family_and_enumeration() {
        Program::compile("event").run(&[], &[]);
    }

    #[test]
    fn callbacks_run_where_the_program_wants_them() {
        Program::compile("callback").run(&[], &[]);
    }

    #[test]
    fn devices_have_their_own_memory_and_threads_their_own_device() {
        Program::compile("devices").run(&[], &[("ASCEND_SIM_DEVICES", "2")]);
    }

    #[test]
    fn calls_younger_than_the_chosen_version_are_unsupported() {
        let program = Program::compile("version");
        program.run(&["9.1"], &[]);
        program.run(&["9.2"], &[("ASCEND_SIM_VERSION", "9.2")]);
    }

    #[test]
    fn work_lasts_as_long_on_its_stream_as_it_was_told_to() {
        Program::compile("latency").run(&[], &[("ASCEND_SIM_LATENCY", "aclrtMemsetAsync:20ms")]);
    }

    #[test]
    fn models_take_their_memory_from_the_program_or_the_runtime() {
        Program::compile("model").run(&[], &[]);
    }

    #[test]
    fn allocators_are_kept_for_their_streams() {
        Program::compile("allocator").run(&[], &[]);
    }

    #[test]
    fn stream_ordered_pools_are_those_of_the_chosen_version() {
        let program = Program::compile("pool");
        for version in ["8.5", "9.1", "9.2"] {
            program.run(&[version], &[("ASCEND_SIM_VERSION", version)]);
        }
    }

    #[test]
    fn settings_are_checked_kept_and_answered() {
        Program::compile("options").run(&[], &[]);
    }

    #[test]
    fn a_synchronous_copy_waits_for_no_stream_unless_it_is_given_grace() {
        let program = Program::compile("copy_grace");
        program.run(&["0"], &[]);
        program.run(&["1"], &[("ASCEND_SIM_COPY_GRACE", "60s")]);
    }

    #[test]
    fn the_quickstart_samples_of_cann_work() {
        Program::compile("sample_quickstart").run(&[], &[]);
    }

    #[test]
    fn the_memory_samples_of_cann_work() {
        Program::compile("sample_memory").run(&[], &[]);
    }

    #[test]
    fn the_event_samples_of_cann_work() {
        Program::compile("sample_event").run(&[], &[]);
    }

    #[test]
    fn the_stream_samples_of_cann_work() {
        Program::compile("sample_stream").run(&[], &[]);
    }

    #[test]
    fn the_callback_samples_of_cann_work() {
        Program::compile("sample_callback").run(&[], &[]);
    }

    #[test]
    fn the_samples_of_cann_whose_kernels_fail_work() {
        let program = Program::compile("sample_failure");
        let plan = [("ASCEND_SIM_FAIL_TASK", "aclrtLaunchHostFunc:2,aclrtLaunchHostFunc:5")];
        program.run(&["failure mode"], &plan);
        program.run(&["exception"], &plan);
    }

    #[test]
    fn the_context_sample_of_cann_works() {
        Program::compile("sample_context").run(&[], &[]);
    }

    #[test]
    fn the_allocator_sample_of_cann_works() {
        Program::compile("sample_allocator").run(&[], &[]);
    }

    #[test]
    fn the_peer_sample_of_cann_works_and_takes_peer_access() {
        Program::compile("sample_device").run(&[], &[("ASCEND_SIM_DEVICES", "2")]);
    }

    #[test]
    fn a_full_device_takes_what_its_pools_have_cached_where_cann_does() {
        let program = Program::compile("pool_shortage");
        for version in ["9.1", "9.2"] {
            program.run(&[version], &[("ASCEND_SIM_VERSION", version), ("ASCEND_SIM_CAPACITY", "64MiB")]);
        }
    }

    #[test]
    fn planned_calls_fail_and_leave_nothing_behind() {
        let plan = "aclrtMalloc:2,aclrtFree:1:507033";
        Program::compile("settings").run(&["failures"], &[("ASCEND_SIM_FAIL", plan)]);
    }

    /// Rows C4, C5, C24, C26, C29, C31, C40, C51, C88 and C89 of the log of faults in other pools.
    #[test]
    fn what_users_of_other_pools_ran_into_is_an_error_or_told() {
        Program::compile("bug_log").run(&[], &[("ASCEND_SIM_DEVICES", "2")]);
    }

    #[test]
    fn any_call_may_fail_and_any_device_be_too_small_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("leftovers");
        let path = file.to_str().expect("a temporary path is UTF-8");
        let arguments: Vec<&str> = [path].iter().chain(acl_sys::Table::SYMBOLS).copied().collect();
        let text = || std::fs::read_to_string(&file).unwrap_or_default();
        let settings = [("ASCEND_SIM_LEFTOVERS", path), ("ASCEND_SIM_DEVICES", "2")];
        Program::compile("sweep").run_with(&arguments, &settings, text);
        assert_eq!(text(), "");
    }

    #[test]
    fn what_a_program_leaves_behind_is_told_with_its_makers() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("leftovers");
        let path = file.to_str().expect("a temporary path is UTF-8");
        Program::compile("leftovers").run(&[], &[("ASCEND_SIM_LEFTOVERS", path)]);
        let report = std::fs::read_to_string(&file).expect("the simulator made the file");
        let (on_device, of_process): (Vec<_>, Vec<_>) =
            report.lines().partition(|line| line.contains("aclrtResetDeviceForce"));
        for words in [
            "context made by aclrtCreateContext",
            "stream made by aclrtCreateStream,",
            "event made by aclrtCreateEvent,",
            "notification made by aclrtCreateNotify,",
            "memory, 160 bytes at",
            "obtained by \"aclrtMalloc, call",
            "pools: 1",
            "reservations: 1",
        ] {
            assert!(on_device.iter().any(|line| line.contains(words)), "{words} is missing: {report}");
        }
        assert_eq!(on_device.len(), 7, "{report}");
        for words in ["pinned memory, 128 bytes", "data buffer made by", "allocator descriptor made by"] {
            assert!(of_process.iter().any(|line| line.contains(words)), "{words} is missing: {report}");
        }
        assert_eq!(of_process.len(), 3, "{report}");
    }

    #[test]
    fn planned_tasks_fail_when_they_run_and_stop_their_stream_if_it_wants_that() {
        let plan = "aclrtMemsetAsync:1,aclrtMemsetAsync:3:507011,aclrtLaunchHostFunc:2:507011";
        Program::compile("task_failure").run(&[], &[("ASCEND_SIM_FAIL_TASK", plan)]);
    }

    #[test]
    fn wrong_settings_fail_the_initialisation_with_a_text_that_helps() {
        let program = Program::compile("settings");
        program.run(&["ASCEND_SIM_VERSION", "9.3", "8.5, 9.1 or 9.2"], &[("ASCEND_SIM_VERSION", "9.3")]);
        program.run(&["ASCEND_SIM_CAPACITY", "apples", "8GiB"], &[("ASCEND_SIM_CAPACITY", "8apples")]);
        program.run(&["ASCEND_SIM_FAIL", "aclrtMaloc"], &[("ASCEND_SIM_FAIL", "aclrtMaloc:1")]);
        program.run(&["ASCEND_SIM_HAZARDS", "/no/such"], &[("ASCEND_SIM_HAZARDS", "/no/such/file")]);
    }

    #[test]
    fn use_after_free_on_a_stream_is_reported_with_both_places() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("hazards");
        let path = file.to_str().expect("a temporary path is UTF-8");
        Program::compile("hazard").run(&[], &[("ASCEND_SIM_HAZARDS", path)]);
        let report = std::fs::read_to_string(&file).expect("the simulator made the file");
        assert_eq!(report.lines().count(), 1, "{report}");
        for word in ["use of freed memory", "aclrtMemsetAsync", "aclrtFree", "aclrtMalloc"] {
            assert!(report.contains(word), "{word} is missing: {report}");
        }
    }
}

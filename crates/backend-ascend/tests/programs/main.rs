//! The programs of this crate as a person runs them: what they print, what they write, and how they end. Their parts that only
//! compute have tests of their own, which cargo does not run in an example; they run here.

#[path = "../../examples/hardware_test/alignment.rs"]
mod alignment;
#[path = "../../examples/hardware_test/arguments.rs"]
mod arguments;
#[path = "../simulator/library.rs"]
mod library;
#[path = "../../examples/hardware_test/samples.rs"]
mod samples;
#[path = "../../examples/hardware_test/version_text.rs"]
mod version_text;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder in which cargo puts what it builds: that of this test is below it.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    test.ancestors().nth(2).expect("the test lies two folders deep").to_path_buf()
}

/// Runs an example with these variables of ours and no others, on the simulator unless they say otherwise.
fn run(example: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(built().join("examples").join(example));
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("ASCEND_") {
            command.env_remove(variable);
        }
    }
    command
        .env("ASCEND_MEMPOOL_ACL_LIBRARY", library::simulator())
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("`cargo test -p backend-ascend` without `--test` builds the examples, too")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The models of the example.
fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/multi_model/models");
    ["bert_base", "resnet50", "yolov8"]
        .map(|name| folder.join(name).with_extension("txt").display().to_string())
        .to_vec()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOWHERE: (&str, &str) = ("ASCEND_MEMPOOL_ACL_LIBRARY", "/nowhere/libascendcl.so");

    #[test]
    fn without_a_card_one_line_says_so_and_what_to_do() {
        let cases = [
            ("hardware_test", "cargo xtask hardware-test --sim"),
            ("multi_model", "cargo xtask demo-ascend"),
        ];
        for (example, advice) in cases {
            let output = run(example, &["model"][..usize::from(example == "multi_model")], &[NOWHERE]);
            let errors = text(&output.stderr);
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{errors}");
            assert_eq!(errors.lines().count(), 1, "{errors}");
            assert!(errors.contains("no Ascend card") && errors.contains(advice), "{errors}");
        }
    }

    #[test]
    fn three_models_share_a_workspace_and_answer_as_in_memory_of_acl() {
        let folder = tempfile::tempdir().unwrap();
        let hazards = folder.path().join("hazards");
        let models = models();
        let models: Vec<_> = models.iter().map(String::as_str).collect();
        let output = run("multi_model", &models, &[("ASCEND_SIM_HAZARDS", hazards.to_str().unwrap())]);
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{printed}{}", text(&output.stderr));
        // The largest, not the sum.
        assert!(
            printed.contains("88 MiB for all models") && printed.contains("one each would be 172 MiB"),
            "{printed}"
        );
        assert_eq!(
            printed.lines().filter(|line| line.ends_with(", as in memory of ACL")).count(),
            9,
            "{printed}"
        );
        assert!(printed.contains("32 GiB of 32 GiB free; everything was released in order"), "{printed}");
        let last = printed.lines().rev().find(|line| line.starts_with("pool"));
        assert!(
            last.is_some_and(|line| line.contains("after") && line.contains("0 B in 0 arenas")),
            "{printed}"
        );
        // No run touched memory that was given back.
        assert_eq!(std::fs::read_to_string(hazards).unwrap(), "");
    }

    #[test]
    fn a_model_that_does_not_fit_or_is_none_is_named() {
        let models = models();
        let small = run("multi_model", &[&models[0]], &[("ASCEND_SIM_CAPACITY", "100MiB")]);
        let none = run("multi_model", &["Cargo.toml"], &[]);
        for (output, name, code) in [(small, "bert_base", "207001"), (none, "Cargo.toml", "100013")] {
            let errors = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{errors}");
            assert!(errors.contains(name) && errors.contains(code), "{errors}");
        }
    }

    /// What the three models call, but for questions.
    const CALLS: &[&str] = &[
        "aclmdlQuerySize",
        "aclmdlLoadFromFile",
        "aclmdlLoadFromFileWithMem",
        "aclmdlUnload",
        "aclmdlCreateDesc",
        "aclmdlGetDesc",
        "aclmdlDestroyDesc",
        "aclmdlCreateDataset",
        "aclmdlAddDatasetBuffer",
        "aclmdlDestroyDataset",
        "aclCreateDataBuffer",
        "aclDestroyDataBuffer",
        "aclmdlExecute",
        "aclrtMallocAlign32",
        "aclrtMalloc",
        "aclrtFree",
        "aclrtMemcpy",
        "aclrtMemset",
        "aclrtSynchronizeDevice",
    ];

    #[test]
    fn whichever_call_fails_the_models_end_in_order_and_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (model, hazards) = (file("small.txt"), file("hazards"));
        let lines =
            ["ascend-sim-model", "work 64KiB", "weight 32KiB", "input a uint8 64", "output b uint8 64"];
        std::fs::write(&model, lines.join("\n")).unwrap();
        for (call, n) in CALLS.iter().flat_map(|call| [(call, 1), (call, 2)]) {
            let plan = format!("{call}:{n}");
            let settings = [("ASCEND_SIM_FAIL", plan.as_str()), ("ASCEND_SIM_HAZARDS", &hazards)];
            let output = run("multi_model", &[&model, &model], &settings);
            let (printed, errors) = (text(&output.stdout), text(&output.stderr));
            // The pool asks for a smaller arena, and there is one wait for one arena.
            let is_met = *call != "aclrtMallocAlign32" && (n == 1 || *call != "aclrtSynchronizeDevice");
            let codes = if is_met { &[Some(1), Some(2)][..] } else { &[Some(0)] };
            assert!(codes.contains(&output.status.code()), "{plan}: {}\n{printed}{errors}", output.status);
            let is_told = errors.contains(call) || printed.contains("SOMETHING WAS LEFT");
            assert!(is_told || !is_met, "{plan}: {printed}{errors}");
            assert_eq!(std::fs::read_to_string(&hazards).unwrap(), "", "{plan}");
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (example, arguments, word) in [
            ("multi_model", &[][..], "no model"),
            ("multi_model", &["--device", "x", "a.om"], "\"x\""),
            ("hardware_test", &["--fast"], "--fast"),
            ("hardware_test", &["--report"], "--report"),
        ] {
            let output = run(example, arguments, &[]);
            let errors = text(&output.stderr);
            assert!(output.status.code() == Some(2) && errors.contains(word), "{errors}");
        }
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    fn report(variables: &[(&str, &str)]) -> (Output, Value) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let output = run("hardware_test", &["--simulated", "--report", path.to_str().unwrap()], variables);
        let report =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
        (output, serde_json::from_str(&report).unwrap())
    }

    // Programs read it: a key that goes or changes needs a new schema_version.
    #[test]
    fn the_report_has_its_keys() {
        let (output, report) = report(&[]);
        assert!(output.status.success(), "{}", text(&output.stdout));
        let top = [
            "card",
            "conformance",
            "passed",
            "pool",
            "questions",
            "schema",
            "schema_version",
            "simulated",
            "timings",
            "unix_time_s",
            "versions",
        ];
        assert_eq!(keys(&report), top);
        assert_eq!(
            (&report["schema_version"], &report["passed"], &report["simulated"]),
            (&1.into(), &true.into(), &true.into())
        );
        assert_eq!(keys(&report["versions"]), ["acl", "ascend_mempool", "cann", "driver", "host", "soc"]);
        assert_eq!(keys(&report["conformance"][0]), ["checks", "failed", "suite"]);
        assert_eq!(report["conformance"].as_array().map(Vec::len), Some(6));
        assert_eq!(
            keys(&report["timings"][0]),
            ["max_ns", "median_ns", "min_ns", "n", "operation", "p99_ns"]
        );
        let questions = report["questions"].as_array().unwrap();
        assert_eq!(keys(&questions[0]), ["answer", "detail", "id", "question"]);
        let ids: Vec<_> = questions.iter().map(|question| question["id"].as_str().unwrap()).collect();
        let expected = [
            "handle_mapped_twice",
            "event_recorded_anew",
            "unmap_waits",
            "free_waits",
            "synchronize_device_scope",
            "arena_alignment",
            "reservation_alignment",
            "plain_malloc_cost",
            "giant_pages",
            "map_cost",
        ];
        assert_eq!(ids, expected);
        // Each was asked: the simulator can answer all of them.
        assert!(questions.iter().all(|question| question["answer"] != "not found out"), "{questions:#?}");
    }

    #[test]
    fn a_check_that_does_not_hold_is_printed_and_reported() {
        // The first question for memory is that of the description, the others those of checks.
        let (output, report) = report(&[("ASCEND_SIM_FAIL", "aclrtGetMemInfo:2")]);
        let printed = text(&output.stdout);
        assert_eq!((output.status.code(), &report["passed"]), (Some(1), &false.into()), "{printed}");
        let check = report["conformance"][0]["failed"][0]["check"].as_str().unwrap();
        assert!(printed.contains("1 DO NOT HOLD") && printed.contains(check), "{check}: {printed}");
    }

    #[test]
    fn a_card_on_which_much_goes_wrong_still_gets_its_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libascendcl.so");
        // Nothing can be held up in a stream, so most checks of events and questions end by a panic.
        library::write_without(&["aclrtLaunchHostFunc"], &path);
        let (output, report) = report(&[("ASCEND_MEMPOOL_ACL_LIBRARY", path.to_str().unwrap())]);
        assert_eq!((output.status.code(), &report["passed"]), (Some(1), &false.into()));
        let events = report["conformance"].as_array().and_then(|suites| suites.last()).unwrap();
        assert_eq!(
            (&events["suite"], &events["failed"][0]["check"]),
            (&"events of streams".into(), &"an_event_is_complete_when_the_work_before_it_is_done".into())
        );
        assert!(events["failed"][0]["found"].as_str().unwrap().contains("panic"), "{events:#}");
        let questions = report["questions"].as_array().unwrap();
        let open = questions.iter().filter(|question| question["answer"] == "not found out").count();
        assert!(questions.len() == 10 && (1..10).contains(&open), "{questions:#?}");
    }
}

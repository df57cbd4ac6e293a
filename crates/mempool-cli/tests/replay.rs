//! `mempool replay` as its users see it.

#[cfg(test)]
mod replay {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::Read;
    use std::path::{Path, PathBuf};
    use std::process::{Command as Process, Stdio};

    use assert_cmd::Command;
    use mempool_trace::Recording;
    use predicates::prelude::*;
    use predicates::str::contains;
    use serde_json::Value;
    use tempfile::TempDir;

    fn mempool() -> Command {
        let mut command = Command::cargo_bin("mempool").unwrap();
        command.env_clear().arg("replay");
        command
    }

    /// A folder with the recording in it.
    fn recording(recording: Recording) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(recording.name()).with_extension("csv.zst");
        fs::write(&path, recording.packed()).unwrap();
        (folder, path)
    }

    fn log(rows: &str) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        fs::write(&path, format!("Thread,Time,Action,Pointer,Size,Stream\n{rows}")).unwrap();
        (folder, path)
    }

    const GOOD: &str = "1,10:00:00.000001,allocate,0x10,4096,0\n1,10:00:00.000002,free,0x10,4096,0\n";
    const UNKNOWN_ACTION: &str = "1,10:00:00.000003,reallocate,0x10,4096,0\n";
    const DOUBLE_FREE: &str = "1,10:00:00.000004,free,0x10,4096,0\n";

    fn faults() -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mempool-trace/tests/data");
        let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "csv")).collect();
        assert!(files.len() >= 24, "{files:?}");
        files
    }

    fn objects(output: &[u8]) -> Vec<Value> {
        let text = std::str::from_utf8(output).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    const KEYS: [&str; 13] = [
        "address_ratio",
        "address_space_bytes",
        "events",
        "failures",
        "fragmentation",
        "ns_per_op_max",
        "ns_per_op_median",
        "ns_per_op_p99",
        "peak_live_bytes",
        "peak_reserved_bytes",
        "policy",
        "reserved_ratio",
        "trace",
    ];

    fn keys(object: &Value) -> BTreeSet<&str> {
        object.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn json_has_one_object_a_trace_and_policy_with_the_promised_keys() {
        let (_folder, path) = recording(Recording::RESNET50);
        let run =
            mempool().args(["--policy", "both", "--repeat", "1", "--json"]).arg(&path).assert().success();
        let objects = objects(&run.get_output().stdout);
        assert_eq!(objects.len(), 2);
        for (object, policy) in objects.iter().zip(["best-fit", "first-fit"]) {
            assert_eq!(keys(object), KEYS.into(), "{object}");
            assert_eq!(object["trace"], path.to_str().unwrap());
            assert_eq!(object["policy"], policy);
            assert_eq!((&object["events"], &object["failures"]), (&5344.into(), &0.into()));
            assert_eq!(object["peak_live_bytes"], 197_173_800_u64);
            let ratio = |key: &str, bytes: &str| {
                let expected = object[bytes].as_f64().unwrap() / 197_173_800.0;
                assert!((object[key].as_f64().unwrap() - expected).abs() < 1e-6, "{key}: {object}");
            };
            ratio("reserved_ratio", "peak_reserved_bytes");
            ratio("address_ratio", "address_space_bytes");
        }
        run.stderr("");
    }

    #[test]
    fn json_with_a_comparison_has_two_keys_more() {
        let (_folder, path) = recording(Recording::BERT_BASE);
        let run = mempool().args(["--compare", "--repeat", "1", "--json"]).arg(&path).assert().success();
        let objects = objects(&run.get_output().stdout);
        let more = KEYS.into_iter().chain(["caching_reserved_bytes", "caching_reserved_ratio"]);
        assert_eq!(keys(&objects[0]), more.collect());
        assert_eq!(objects[0]["caching_reserved_bytes"], 587_202_560_u64);
    }

    /// Memory of 1.05 times the peak fails plain arenas and serves virtual ones.
    #[test]
    fn virtual_arenas_serve_a_recording_that_plain_ones_cannot_and_say_what_was_mapped() {
        let (_folder, path) = recording(Recording::RESNET50);
        let replay = |kind: &str| {
            let mut command = mempool();
            command.args(["--capacity", "1.05x", "--repeat", "1", "--json"]);
            command.args(["--arena-kind", kind]).arg(&path).assert()
        };
        let plain = objects(&replay("plain").code(1).get_output().stdout);
        assert_eq!(keys(&plain[0]), KEYS.into());
        let run = replay("virtual").success();
        let mapped = objects(&run.get_output().stdout);
        assert_eq!(keys(&mapped[0]), KEYS.into_iter().chain(["maps", "stolen_granules"]).collect());
        assert!(mapped[0]["maps"].as_u64().unwrap() >= 94 && mapped[0]["failures"] == 0, "{}", mapped[0]);
        replay("paged").code(2).stderr(contains("use PLAIN or VIRTUAL"));
    }

    #[test]
    fn the_table_names_every_trace_and_sums_the_gain_up() {
        let (_a, resnet) = recording(Recording::RESNET50);
        let (_b, yolo) = recording(Recording::YOLOV8S);
        let run = mempool()
            .args(["--policy", "both", "--compare", "--repeat", "1"])
            .args([&resnet, &yolo])
            .assert();
        run.success()
            .stdout(contains("resnet50  best-fit").and(contains("yolov8s   first-fit")))
            .stdout(contains("188 MiB").and(contains("222 MiB")))
            .stdout(contains("pool per stream: what a caching allocator"))
            .stdout(contains("(mean of 2 traces)").count(2))
            .stderr("");
    }

    #[test]
    fn a_table_with_its_times_struck_out_looks_so() {
        let (_folder, path) = log(GOOD);
        let run = mempool().args(["--arena", "2MiB", "--repeat", "1"]).arg(&path).assert().success();
        let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
        // Everything up to the fragmentation; what follows are times.
        let lines: Vec<_> = text
            .lines()
            .map(|line| line.chars().take(83).collect::<String>().trim_end().to_owned())
            .collect();
        let expected = [
            "trace  policy    events      peak      peak    ratio   address  ratio  fail  frag",
            "                             live  reserved              space",
            "───────────────────────────────────────────────────────────────────────────────────",
            "log    best-fit       2  4.00 KiB  2.00 MiB  512.000  32.0 KiB  8.000     0  0.00",
        ];
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn without_a_policy_the_environment_decides() {
        let (_folder, path) = log(GOOD);
        let run =
            mempool().env("ASCEND_MEMPOOL_POLICY", "FIRST_FIT").arg("--json").arg(&path).assert().success();
        assert_eq!(objects(&run.get_output().stdout)[0]["policy"], "first-fit");
        mempool()
            .env("ASCEND_MEMPOOL_POLICY", "WORST_FIT")
            .arg(&path)
            .assert()
            .code(2)
            .stderr(contains("ASCEND_MEMPOOL_POLICY").and(contains("BEST_FIT or FIRST_FIT")));
    }

    #[test]
    fn a_card_too_small_is_a_finding() {
        let (_folder, path) = recording(Recording::RESNET50);
        let run = mempool().args(["--capacity", "100MiB", "--json"]).arg(&path).assert().code(1);
        let objects = objects(&run.get_output().stdout);
        assert!(objects[0]["failures"].as_u64().unwrap() > 0);
        assert!(objects[0]["peak_reserved_bytes"].as_u64().unwrap() <= 100 << 20);
        run.stderr(
            contains("allocations failed with best-fit, the first on line").and(contains("device free")),
        );
    }

    #[test]
    fn a_bad_row_is_a_failure_that_names_file_line_and_the_way_out() {
        let (_folder, path) = log(&[GOOD, UNKNOWN_ACTION].concat());
        let place = format!("error: {}:4: column Action: unknown action", path.display());
        mempool().arg(&path).assert().code(2).stdout("").stderr(contains(place).and(contains("--lenient")));
        let (_folder, path) = log(&[GOOD, DOUBLE_FREE].concat());
        let place =
            format!("error: {}:4: pointer 0x10: freed twice, the first time on line 3", path.display());
        mempool().arg(&path).assert().code(2).stderr(contains(place).and(contains("--lenient")));
    }

    #[test]
    fn lenient_runs_say_what_they_passed_over() {
        let (_folder, path) = log(&[GOOD, UNKNOWN_ACTION, DOUBLE_FREE].concat());
        let run = mempool().args(["--lenient", "--json"]).arg(&path).assert().success();
        assert_eq!(objects(&run.get_output().stdout)[0]["events"], 3);
        run.stderr(contains("bad rows skipped: 1, rows that make no sense: 1")).stderr(
            contains("log.csv:4: column Action").and(contains("log.csv:5: pointer 0x10: freed twice")),
        );
    }

    #[test]
    fn one_bad_trace_does_not_keep_the_others_from_being_replayed() {
        let (_good, good) = log(GOOD);
        let (_bad, bad) = log(UNKNOWN_ACTION);
        let run = mempool().arg("--json").args([&bad, &good]).assert().code(2);
        assert_eq!(objects(&run.get_output().stdout).len(), 1);
        mempool().arg("no/such/trace.csv").assert().code(2).stderr(
            contains("error: cannot open trace \"no/such/trace.csv\"").and(contains("No such file").count(1)),
        );
    }

    #[test]
    fn no_fault_input_makes_it_panic() {
        for path in faults() {
            for lenient in [false, true] {
                let mut command = mempool();
                command.args(["--policy", "both", "--compare", "--repeat", "1", "--json"]).arg(&path);
                if lenient {
                    command.arg("--lenient");
                }
                let output = command.output().unwrap();
                let code = output.status.code();
                let allowed: &[_] = if lenient { &[Some(0), Some(1)] } else { &[Some(0), Some(2)] };
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert!(allowed.contains(&code), "{}: {code:?} {stderr}", path.display());
                assert!(!stderr.contains("panicked"), "{}: {stderr}", path.display());
                let lines = if code == Some(2) { 0 } else { 2 };
                assert_eq!(objects(&output.stdout).len(), lines, "{}", path.display());
            }
        }
    }

    #[test]
    fn an_empty_trace_is_a_row_of_zeros_with_valid_json() {
        let (_folder, path) = log("");
        let run = mempool().args(["--json", "--compare"]).arg(&path).assert().success();
        let object = &objects(&run.get_output().stdout)[0];
        for key in ["events", "failures", "peak_live_bytes", "address_space_bytes", "ns_per_op_max"] {
            assert_eq!(object[key], 0, "{key}");
        }
        for key in ["reserved_ratio", "address_ratio", "fragmentation", "caching_reserved_ratio"] {
            assert_eq!(object[key], 0.0, "{key}");
        }
        mempool().arg(&path).assert().success().stdout(contains("NaN").not().and(contains("inf").not()));
    }

    #[test]
    fn arguments_that_make_no_sense_are_refused_with_what_is_allowed() {
        for (arguments, text) in [
            (&["x.csv", "--policy", "worst-fit"][..], "use best-fit, first-fit or both"),
            (&["x.csv", "--capacity", "lots"], "write bytes (8589934592) or a number with KiB"),
            (&["x.csv", "--capacity", "0"], "0 bytes make no sense here"),
            (&["x.csv", "--arena=-1"], "'--arena <SIZE>'"),
            (&["x.csv", "--repeat", "0"], "1..=100000"),
            (&[], "<FILE>"),
            (&["x.csv", "--nonsense"], "--nonsense"),
        ] {
            mempool().args(arguments).assert().code(2).stderr(contains(text));
        }
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let (_folder, path) = log(GOOD);
        let mut child = Process::new(env!("CARGO_BIN_EXE_mempool"))
            .env_clear()
            .args(["replay", "--json", "--repeat", "1"])
            .args(vec![&path; 3000])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        // The reading end is closed here, long before 3000 lines fit into a pipe.
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

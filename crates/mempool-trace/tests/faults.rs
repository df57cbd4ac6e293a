//! The small fault inputs in `tests/data`: each is read, checked and summed up as its name promises.

#[cfg(test)]
mod faults {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use mempool_trace::{
        Action, Column, FindingKind, LiveCheck, RowFault, Step, TraceError, TraceReader, TraceRow,
        TraceSummary,
    };

    fn data() -> PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "tests", "data"].iter().collect()
    }

    fn open(name: &str) -> TraceReader<'static> {
        TraceReader::open(data().join(name).with_extension("csv")).unwrap()
    }

    fn rows(name: &str) -> Vec<TraceRow> {
        open(name).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Line, column and reason of every bad row; anything else than a bad row fails the test.
    fn bad_rows(name: &str) -> Vec<(u64, Option<Column>, RowFault)> {
        let errors = open(name).filter_map(Result::err);
        errors
            .map(|error| {
                let row = error.as_row().unwrap_or_else(|| panic!("{name}: {error}"));
                (row.line, row.column, row.reason)
            })
            .collect()
    }

    /// Line, kind and step of every finding.
    fn findings(name: &str) -> Vec<(u64, FindingKind, Step)> {
        let mut check = LiveCheck::new();
        let verdicts = rows(name).into_iter().map(|row| check.check(&row)).collect::<Vec<_>>();
        verdicts.into_iter().filter_map(|v| v.finding.map(|f| (f.line, f.kind, v.step))).collect()
    }

    fn summary(name: &str) -> TraceSummary {
        TraceSummary::of(open(name)).unwrap()
    }

    /// Files that are whole and make sense: events, peak live bytes, live blocks and bytes at the end.
    const CLEAN: [(&str, u64, u128, usize, u128); 16] = [
        ("best_beats_first", 12, 13_312, 0, 0),
        ("bom", 2, 4096, 0, 0),
        ("bounded_cache", 45, 36_864, 3, 24_576),
        ("checkerboard", 34, 1_048_576, 0, 0),
        ("crlf", 4, 4608, 0, 0),
        ("empty", 0, 0, 0, 0),
        ("extra_column", 2, 4096, 0, 0),
        ("header_only", 0, 0, 0, 0),
        ("interleaved_streams", 16, 32_768, 0, 0),
        ("leak_per_step", 50, 87_040, 10, 81_920),
        ("no_header", 2, 4096, 0, 0),
        ("old_rmm_time_and_stream", 2, 4096, 0, 0),
        ("pointer_reuse", 20, 10_240, 0, 0),
        ("pointer_without_0x", 2, 4096, 0, 0),
        ("time_goes_back", 4, 4608, 0, 0),
        ("zero_size", 6, 512, 0, 0),
    ];

    /// Files with a fault; each has a test below.
    const FAULTY: [&str; 8] = [
        "allocate_live_pointer",
        "double_free",
        "free_unknown",
        "free_wrong_size",
        "huge_allocated",
        "short_row_middle",
        "truncated_line",
        "unknown_action",
    ];

    #[test]
    fn every_file_is_expected_here() {
        let files = data().read_dir().unwrap().map(|entry| entry.unwrap().path());
        let csv = files.filter(|path| path.extension().is_some_and(|end| end == "csv"));
        let found: BTreeSet<_> =
            csv.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        let known = CLEAN.iter().map(|file| file.0).chain(FAULTY);
        assert_eq!(found, known.map(str::to_owned).collect());
    }

    #[test]
    fn clean_files_have_their_events_and_no_findings() {
        for (name, events, peak, blocks, bytes) in CLEAN {
            let summary = summary(name);
            assert_eq!((summary.events, summary.counts.findings()), (events, 0), "{name}");
            assert_eq!(summary.peak_live_bytes, peak, "{name}");
            assert_eq!((summary.live_at_end_blocks, summary.live_at_end_bytes), (blocks, bytes), "{name}");
        }
    }

    #[test]
    fn both_writings_of_a_row_give_the_same_row() {
        let plain = rows("bom");
        assert_eq!(rows("extra_column"), plain);
        assert_eq!(rows("old_rmm_time_and_stream"), plain);
        assert_eq!(rows("pointer_without_0x"), plain);
        let moved = plain.iter().map(|row| row.at(row.row, row.line - 1));
        assert_eq!(rows("no_header"), moved.collect::<Vec<_>>());
        assert_eq!(plain[0].time.to_string(), "10:00:00.000010");
        assert_eq!((plain[1].row, plain[1].line, plain[1].action), (2, 3, Action::Free));
    }

    #[test]
    fn frees_by_other_threads_and_times_that_go_back_are_legal() {
        let summary = summary("interleaved_streams");
        assert_eq!((summary.streams, summary.threads, summary.peak_live_blocks), (4, 2, 8));
        assert_eq!((summary.counts.cross_thread_frees, summary.counts.cross_stream_frees), (8, 0));
        let times: Vec<_> = rows("time_goes_back").iter().map(|row| row.time.micros() % 1000).collect();
        assert_eq!(times, [10, 20, 5, 15]);
    }

    #[test]
    fn zero_sizes_are_counted_and_clean() {
        let counts = summary("zero_size").counts;
        assert_eq!((counts.allocations, counts.frees, counts.zero_sizes, counts.findings()), (3, 3, 2, 0));
    }

    #[test]
    fn a_double_free_is_found_and_harms_no_other_block() {
        let found = findings("double_free");
        assert_eq!(found, [(5, FindingKind::DoubleFree { freed_on_line: 4 }, Step::Skip)]);
        let summary = summary("double_free");
        assert_eq!((summary.live_at_end_blocks, summary.peak_live_bytes), (0, 6144));
    }

    #[test]
    fn a_free_of_something_unknown_is_found() {
        assert_eq!(findings("free_unknown"), [(3, FindingKind::UnknownFree, Step::Skip)]);
    }

    #[test]
    fn a_free_with_another_size_is_found_and_frees_the_block() {
        let [(3, kind, Step::Free(block))] = findings("free_wrong_size")[..] else { panic!("one finding") };
        assert_eq!(kind, FindingKind::WrongSize { allocated: 4096, freed: 2048, allocated_on_line: 2 });
        assert_eq!((block.size, block.row), (4096, 1));
        assert_eq!(summary("free_wrong_size").live_at_end_blocks, 0);
    }

    #[test]
    fn an_allocation_of_a_live_pointer_replaces_and_its_second_free_is_double() {
        let [(3, allocate, Step::Replace(_)), (5, free, Step::Skip)] = findings("allocate_live_pointer")[..]
        else {
            panic!("two findings")
        };
        assert_eq!(allocate, FindingKind::AllocateLive { live_since_line: 2 });
        assert_eq!(free, FindingKind::DoubleFree { freed_on_line: 4 });
    }

    #[test]
    fn absurd_sizes_are_found_and_their_sum_does_not_wrap() {
        let size = |size| FindingKind::AbsurdSize { size };
        assert_eq!(
            findings("huge_allocated"),
            [(2, size(1 << 63), Step::Allocate), (3, size(u64::MAX - 511), Step::Allocate)]
        );
        let summary = summary("huge_allocated");
        assert_eq!(summary.peak_live_bytes, (1 << 63) + (1 << 64) - 512);
        assert_eq!((summary.live_at_end_bytes, summary.max_size), (0, u64::MAX - 511));
    }

    #[test]
    fn a_line_cut_off_is_said_to_be_one() {
        assert_eq!(bad_rows("truncated_line"), [(5, Some(Column::Action), RowFault::UnknownAction)]);
        let error = open("truncated_line").find_map(Result::err).unwrap();
        let row = error.as_row().unwrap();
        assert!(row.cut_off);
        assert_eq!((row.row, row.excerpt.as_str()), (4, "1,10:00:00.000040,fre"));
        let text = error.to_string();
        for part in
            ["truncated_line.csv", "line 5", "row 4", "column Action", "\"1,10:00:00.000040,fre\"", "cut off"]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }

    #[test]
    fn reading_goes_on_after_a_short_row() {
        assert_eq!(bad_rows("short_row_middle"), [(3, Some(Column::Size), RowFault::MissingField)]);
        let mut lenient = open("short_row_middle").lenient();
        let kept: Vec<_> = lenient.by_ref().map(|row| row.unwrap().row).collect();
        assert_eq!(kept, [1, 3, 4, 5]);
        assert_eq!((lenient.skipped(), lenient.first_skipped()[0].row), (1, 2));
        assert_eq!(lenient.reader().rows_seen(), 5);
    }

    #[test]
    fn unknown_actions_are_bad_rows() {
        let action = |line| (line, Some(Column::Action), RowFault::UnknownAction);
        assert_eq!(bad_rows("unknown_action"), [action(3), action(4)]);
        assert!(TraceSummary::of(open("unknown_action")).is_err());
        let lenient = TraceSummary::of(open("unknown_action").lenient()).unwrap();
        assert_eq!((lenient.events, lenient.counts.findings(), lenient.live_at_end_blocks), (2, 0, 0));
    }

    #[test]
    fn a_file_that_is_not_there_and_a_folder_are_refused() {
        assert!(matches!(TraceReader::open(data().join("missing.csv")), Err(TraceError::Open { .. })));
        let folder = TraceReader::open(data());
        assert!(matches!(folder, Err(TraceError::Read { .. } | TraceError::Open { .. })), "{folder:?}");
    }
}

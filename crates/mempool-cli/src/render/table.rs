//! The result of `mempool replay` as a table for people.

use std::path::Path;

use comfy_table::{CellAlignment, Table};
use mempool_core::{Bytes, FitPolicy};

use super::numbers::{count, size, time};
use super::plain_table;
use crate::cmd::replay::Row;

const HEADER: [&str; 13] = [
    "trace",
    "policy",
    "events",
    "peak\nlive",
    "peak\nreserved",
    "ratio",
    "address\nspace",
    "ratio",
    "fail",
    "frag",
    "ns/op\nmedian",
    "ns/op\np99",
    "longest\nop",
];
const ORDERED: [&str; 3] = ["streams", "waits", "races"];
const COMPARED: [&str; 2] = ["pool per\nstream", "ratio"];
const NOTHING: &str = "-";
const LEGEND: &str = "\
pool per stream: what a caching allocator in the style of torch would hold for the same trace, simulated: segments
of 2 MiB and 20 MiB for each stream, sizes rounded up to 512 B. Ratios are to peak live.";

/// All rows as a table, or as paragraphs where a terminal is too narrow for it; with a comparison also what it says in all.
pub(crate) fn table(rows: &[Row]) -> String {
    let compared = rows.iter().any(|row| row.caching.is_some());
    let table = columns(rows, compared);
    // Known for a terminal only: a file or a pipe takes any width.
    let mut text = match table.width() {
        Some(width) if width < needed_width(&table) => {
            rows.iter().map(paragraph).collect::<Vec<_>>().join("\n")
        }
        _ => table.trim_fmt(),
    };
    if compared {
        text.push_str("\n\n");
        text.push_str(LEGEND);
        for line in FitPolicy::ALL.into_iter().filter_map(|policy| gain(rows, policy)) {
            text.push('\n');
            text.push_str(&line);
        }
    }
    text
}

/// Characters of the longest line.
fn needed_width(table: &Table) -> u16 {
    let gaps = u16::try_from(2 * (HEADER.len() + ORDERED.len() + COMPARED.len())).unwrap_or(u16::MAX);
    table.column_max_content_widths().iter().fold(gaps, |sum, &width| sum.saturating_add(width))
}

/// A row in a few short lines.
fn paragraph(row: &Row) -> String {
    let Row { trace, report, caching } = row;
    let live = report.peak_live;
    let with_ratio = |bytes: Bytes| format!("{} ({})", size(bytes), ratio(bytes, live));
    let space = report.address_space.map_or_else(|| NOTHING.to_owned(), with_ratio);
    let caching = caching.map(|bytes| format!("\n  pool per stream {}", with_ratio(bytes)));
    let order = report.stream_order.as_ref().map(|order| {
        let (streams, waits, races) = (order.streams, count(order.waits), count(order.races));
        format!("\n  {streams} streams, {waits} waits, {races} races")
    });
    let latency = report.latency;
    format!(
        "{} {}: {} events, {} failed, fragmentation {:.2}\n  peak live {}, reserved {}, address space {space}{}\n  \
         median {}, p99 {}, longest {}",
        short_name(trace),
        report.policy,
        count(report.events),
        count(report.failures),
        report.fragmentation(),
        size(live),
        with_ratio(report.peak_reserved),
        order.into_iter().chain(caching).collect::<String>(),
        time(latency.median_ns),
        time(latency.p99_ns),
        time(latency.max_ns),
    )
}

fn columns(rows: &[Row], compared: bool) -> Table {
    let ordered = rows.iter().any(|row| row.report.stream_order.is_some());
    let mut header = HEADER.to_vec();
    header.extend(ORDERED.iter().filter(|_| ordered));
    header.extend(COMPARED.iter().filter(|_| compared));
    let mut table = plain_table(&header);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for Row { trace, report, caching } in rows {
        let live = report.peak_live;
        let mut cells = vec![
            short_name(trace),
            report.policy.to_string(),
            count(report.events),
            size(live),
            size(report.peak_reserved),
            ratio(report.peak_reserved, live),
            report.address_space.map_or_else(|| NOTHING.to_owned(), size),
            report.address_space.map_or_else(|| NOTHING.to_owned(), |bytes| ratio(bytes, live)),
            count(report.failures),
            format!("{:.2}", report.fragmentation()),
        ];
        let latency = report.latency;
        if latency.samples == 0 {
            cells.extend([NOTHING; 3].map(str::to_owned));
        } else {
            cells.extend([count(latency.median_ns), count(latency.p99_ns), time(latency.max_ns)]);
        }
        if ordered {
            let order = report.stream_order.as_ref();
            let cell = |value: Option<u64>| value.map_or_else(|| NOTHING.to_owned(), count);
            cells.push(cell(order.map(|order| u64::from(order.streams))));
            cells.push(cell(order.map(|order| order.waits)));
            cells.push(cell(order.map(|order| order.races)));
        }
        if compared {
            cells.push(caching.map_or_else(|| NOTHING.to_owned(), size));
            cells.push(caching.map_or_else(|| NOTHING.to_owned(), |bytes| ratio(bytes, live)));
        }
        table.add_row(cells);
    }
    table
}

/// The file's name without folders and without what says how it is packed.
pub(crate) fn short_name(trace: &str) -> String {
    let name = Path::new(trace).file_name().map_or_else(|| trace.into(), |name| name.to_string_lossy());
    let mut stem: &str = &name;
    for suffix in [".zst", ".gz", ".csv", ".rmm"] {
        stem = stem.strip_suffix(suffix).filter(|stem| !stem.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}

fn ratio(bytes: Bytes, live: Bytes) -> String {
    let ratio = bytes.ratio_of(live);
    match ratio {
        _ if live.is_zero() => NOTHING.to_owned(),
        // An arena for a few bytes: the digits would say nothing.
        1000.0.. => ">999".to_owned(),
        _ => format!("{ratio:.3}"),
    }
}

/// What a policy gains over all traces that have a comparison, `None` when there are none.
fn gain(rows: &[Row], policy: FitPolicy) -> Option<String> {
    let (mut traces, mut ours, mut theirs) = (0_u32, Bytes::ZERO, Bytes::ZERO);
    let (mut our_ratios, mut their_ratios) = (0.0, 0.0);
    for Row { report, caching, .. } in rows.iter().filter(|row| row.report.policy == policy) {
        if let Some(caching) = *caching
            && !report.peak_live.is_zero()
        {
            traces += 1;
            ours = ours.saturating_add(report.peak_reserved);
            theirs = theirs.saturating_add(caching);
            our_ratios += report.reserved_ratio();
            their_ratios += caching.ratio_of(report.peak_live);
        }
    }
    if traces == 0 {
        return None;
    }
    let traces_as_float = f64::from(traces);
    let plural = if traces == 1 { "" } else { "s" };
    let saved = 100.0 * (1.0 - ours.ratio_of(theirs));
    Some(format!(
        "{policy:<9} reserves {:.3} x live, a pool per stream {:.3} x (mean of {traces} trace{plural}); in all {} against {}: \
         {:.1} % {}",
        our_ratios / traces_as_float,
        their_ratios / traces_as_float,
        size(ours),
        size(theirs),
        saved.abs(),
        if saved < 0.0 { "more" } else { "less" },
    ))
}

#[cfg(test)]
mod tests {
    use mempool_core::PoolConfig;
    use mempool_trace::replay::{ReplayConfig, replay};
    use mempool_trace::{Plan, Recording, Strictness};

    use super::*;

    /// A recording on a pool, not timed, so that the figures are the same in every run.
    fn row(trace: &str, recording: Recording, policy: FitPolicy, caching: Option<Bytes>) -> Row {
        let plan = Plan::read(recording.reader(), Strictness::Strict).unwrap();
        // Arenas so large that how the pool grows does not show.
        let pool = PoolConfig::builder().policy(policy).arena_size(Bytes::gib(1)).build().unwrap();
        let report = replay(&plan, &ReplayConfig::new(pool).with_repeat(0)).unwrap();
        Row { trace: trace.to_owned(), report, caching }
    }

    #[test]
    fn columns_are_aligned_and_the_line_under_the_header_is_as_long() {
        let rows = [
            row("a/resnet50.csv.zst", Recording::RESNET50, FitPolicy::BestFit, None),
            row("b/yolo.rmm.csv", Recording::YOLOV8S, FitPolicy::FirstFit, None),
        ];
        let text = table(&rows);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        let width = |line: &str| line.chars().count();
        assert!(lines.iter().all(|line| width(line) <= width(lines[2])), "{text}");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let first = words(lines[3]);
        assert_eq!(
            first[..9],
            ["resnet50", "best-fit", "5,344", "188", "MiB", "1.00", "GiB", "5.446", "211"],
            "{text}"
        );
        assert_eq!(first[first.len() - 3..], ["-", "-", "-"], "not timed: {text}");
        assert_eq!(words(lines[4])[..3], ["yolo", "first-fit", "5,886"]);
        assert!(lines[3].find("5,344") == lines[4].find("5,886"), "{text}");
    }

    #[test]
    fn a_comparison_is_explained_and_summed_up_for_each_policy() {
        let rows = [
            row("a", Recording::RESNET50, FitPolicy::BestFit, Some(Bytes::gib(2))),
            row("a", Recording::RESNET50, FitPolicy::FirstFit, Some(Bytes::mib(512))),
        ];
        let text = table(&rows);
        assert!(text.contains("pool per stream: what a caching allocator in the style of torch"), "{text}");
        let last: Vec<_> = text.lines().rev().take(2).collect();
        assert!(last[1].starts_with("best-fit  reserves 5.446 x live, a pool per stream 10.891 x"), "{text}");
        assert!(last[1].ends_with("1.00 GiB against 2.00 GiB: 50.0 % less"), "{text}");
        assert!(last[0].ends_with("1.00 GiB against 512 MiB: 100.0 % more"), "{text}");
    }

    #[test]
    fn on_a_narrow_terminal_a_row_is_a_paragraph_of_short_lines() {
        let row = row("a/resnet50.csv.zst", Recording::RESNET50, FitPolicy::BestFit, Some(Bytes::mib(222)));
        let text = paragraph(&row);
        assert!(text.starts_with("resnet50 best-fit: 5,344 events, 0 failed, fragmentation 0."), "{text}");
        assert!(
            text.contains("peak live 188 MiB, reserved 1.00 GiB (5.446), address space 211 MiB (1.121)"),
            "{text}"
        );
        assert!(text.contains("\n  pool per stream 222 MiB (1.181)\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        let table = columns(&[row], true);
        let widest = table.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= usize::from(needed_width(&table))), "{table}");
    }

    #[test]
    fn an_empty_trace_has_no_ratio() {
        let report = replay(&Plan::default(), &ReplayConfig::new(PoolConfig::default())).unwrap();
        let text = table(&[Row { trace: "empty.csv".to_owned(), report, caching: Some(Bytes::ZERO) }]);
        let line = text.lines().nth(3).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[..9], ["empty", "best-fit", "0", "0", "B", "0", "B", "-", "0"], "{text}");
        assert!(!text.contains("NaN") && !text.contains("reserves"), "{text}");
    }

    #[test]
    fn names_lose_folders_and_endings() {
        for (trace, name) in [
            ("/a/b/bert.csv.zst", "bert"),
            ("A.1048576.rmm.csv", "A.1048576"),
            ("log.gz", "log"),
            (".csv", ".csv"),
            ("plain", "plain"),
        ] {
            assert_eq!(short_name(trace), name);
        }
    }
}

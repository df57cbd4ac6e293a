//! One JSON object a line for each trace and policy.

use std::io::{self, Write};

use serde::Serialize;

use crate::cmd::replay::Row;

/// The keys are a promise to scripts: add, never rename.
#[derive(Debug, Serialize)]
struct Line<'a> {
    trace: &'a str,
    policy: &'static str,
    events: u64,
    peak_live_bytes: u64,
    peak_reserved_bytes: u64,
    /// `null` when it is more than 512 GiB.
    address_space_bytes: Option<u64>,
    reserved_ratio: f64,
    address_ratio: Option<f64>,
    failures: u64,
    fragmentation: f64,
    ns_per_op_median: u64,
    ns_per_op_p99: u64,
    ns_per_op_max: u64,
    /// Of virtual arenas.
    #[serde(skip_serializing_if = "Option::is_none")]
    maps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stolen_granules: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events_recorded: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    races: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caching_reserved_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caching_reserved_ratio: Option<f64>,
}

/// Writes a row and a line end, at once.
pub(crate) fn write_line(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let Row { trace, report, caching } = row;
    let order = report.stream_order.as_ref();
    let mapped = Some(report.at_end.counters).filter(|counters| counters.maps > 0);
    let line = Line {
        trace,
        policy: report.policy.name(),
        events: report.events,
        peak_live_bytes: report.peak_live.get(),
        peak_reserved_bytes: report.peak_reserved.get(),
        address_space_bytes: report.address_space.map(mempool_core::Bytes::get),
        reserved_ratio: rounded(report.reserved_ratio()),
        address_ratio: report.address_ratio().map(rounded),
        failures: report.failures,
        fragmentation: rounded(report.fragmentation()),
        ns_per_op_median: report.latency.median_ns,
        ns_per_op_p99: report.latency.p99_ns,
        ns_per_op_max: report.latency.max_ns,
        maps: mapped.map(|counters| counters.maps),
        stolen_granules: mapped.map(|counters| counters.stolen_granules),
        streams: order.map(|order| order.streams),
        waits: order.map(|order| order.waits),
        events_recorded: order.map(|order| order.events),
        races: order.map(|order| order.races),
        caching_reserved_bytes: caching.map(mempool_core::Bytes::get),
        caching_reserved_ratio: caching.map(|bytes| rounded(bytes.ratio_of(report.peak_live))),
    };
    let mut text = serde_json::to_string(&line).map_err(io::Error::from)?;
    text.push('\n');
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// To six decimals.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

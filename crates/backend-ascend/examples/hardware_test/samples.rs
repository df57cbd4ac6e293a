//! Times of one operation, and what is said of them.

/// How long an operation took.
#[derive(Debug)]
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) samples: usize,
    pub(crate) median_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

/// Of samples in nanoseconds, at least one.
pub(crate) fn summary(name: &str, mut samples: Vec<u64>) -> Timing {
    samples.sort_unstable();
    let at = |per_mille: usize| samples[(samples.len() - 1) * per_mille / 1000];
    Timing {
        name: name.to_owned(),
        samples: samples.len(),
        median_ns: at(500),
        p99_ns: at(990),
        min_ns: at(0),
        max_ns: at(1000),
    }
}

/// Nanoseconds in the unit that people read.
#[expect(clippy::cast_precision_loss, reason = "rounded to two digits anyway")]
pub(crate) fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_the_middle_and_the_ends() {
        let timing = summary("x", (1..=101).rev().collect());
        assert_eq!((timing.min_ns, timing.median_ns, timing.p99_ns, timing.max_ns), (1, 51, 100, 101));
        let single = summary("x", vec![7]);
        assert_eq!((single.name.as_str(), single.samples, single.p99_ns), ("x", 1, 7));
    }

    #[test]
    fn times_are_in_the_unit_that_people_read() {
        assert_eq!([9_999, 10_000, 12_345_678].map(time), ["9999 ns", "10.0 us", "12.3 ms"]);
    }
}

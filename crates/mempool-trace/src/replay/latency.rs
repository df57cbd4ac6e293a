//! A histogram of times that is small, fast to write to, and never off by more than 0.2 %.

/// log2 of the number of buckets for each doubling, half of which are used above the first.
const PRECISION_BITS: u32 = 10;
/// Times below this have a bucket each.
const EXACT: u64 = 1 << PRECISION_BITS;
/// Longer times than this are counted as this, about 18 minutes.
const LONGEST_NS: u64 = (1 << 40) - 1;

/// Counts of times in nanoseconds: exact up to 1 µs, to 1 part in 512 above.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    samples: u64,
    max_ns: u64,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self { counts: vec![0; bucket_of(LONGEST_NS) + 1], samples: 0, max_ns: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, ns: u64) {
        self.counts[bucket_of(ns.min(LONGEST_NS))] += 1;
        self.samples += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// The smallest time that at least `per_mille` of a thousand samples do not pass; 0 without samples.
    fn quantile(&self, per_mille: u64) -> u64 {
        let rank = (u128::from(self.samples) * u128::from(per_mille)).div_ceil(1000);
        let mut seen = 0_u128;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += u128::from(count);
            if count > 0 && seen >= rank {
                return start_of(bucket).min(self.max_ns);
            }
        }
        0
    }

    pub(super) fn summary(&self) -> Latency {
        Latency {
            samples: self.samples,
            median_ns: self.quantile(500),
            p99_ns: self.quantile(990),
            max_ns: self.max_ns,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "buckets number some 16,000")]
#[inline]
fn bucket_of(ns: u64) -> usize {
    if ns < EXACT {
        return ns as usize;
    }
    // Doublings above the first share the upper half of the precision: x has its leading bit in place PRECISION_BITS - 1.
    let shift = ns.ilog2() - (PRECISION_BITS - 1);
    ((u64::from(shift) << (PRECISION_BITS - 1)) + (ns >> shift)) as usize
}

/// The smallest time of a bucket.
fn start_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < EXACT {
        return bucket;
    }
    let half = EXACT / 2;
    let shift = bucket / half - 1;
    (bucket - shift * half) << shift
}

/// Times of single operations, in nanoseconds, less what reading the clock costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Latency {
    /// Operations measured.
    pub samples: u64,
    /// Half of them took no longer.
    pub median_ns: u64,
    /// 99 of 100 took no longer.
    pub p99_ns: u64,
    /// The longest. On a busy machine this shows the scheduler more than the pool.
    pub max_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_rise_without_a_gap_and_are_narrow() {
        let mut expected = 0;
        for bucket in 0..=bucket_of(LONGEST_NS) {
            let start = start_of(bucket);
            assert_eq!(start, expected, "bucket {bucket}");
            assert_eq!(bucket_of(start), bucket);
            let next = start_of(bucket + 1);
            assert_eq!(bucket_of(next - 1), bucket);
            assert!(start < EXACT || (next - start) * 512 <= start, "bucket {bucket} is too wide");
            expected = next;
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_samples() {
        let mut histogram = Histogram::new();
        for ns in (1..=1000).rev() {
            histogram.add(ns);
        }
        let summary = histogram.summary();
        assert_eq!(summary, Latency { samples: 1000, median_ns: 500, p99_ns: 990, max_ns: 1000 });
    }

    #[test]
    fn one_sample_is_every_quantile() {
        let mut histogram = Histogram::new();
        histogram.add(7_000_000);
        let Latency { median_ns, p99_ns, max_ns, .. } = histogram.summary();
        assert_eq!((median_ns, max_ns), (p99_ns, 7_000_000));
        assert!(median_ns <= 7_000_000 && median_ns * 513 >= 7_000_000 * 512);
    }

    #[test]
    fn no_sample_and_the_longest_possible_one_are_harmless() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.summary(), Latency::default());
        histogram.add(u64::MAX);
        assert_eq!(histogram.summary().max_ns, u64::MAX);
    }
}

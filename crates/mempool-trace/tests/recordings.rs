//! The embedded recordings: whole, balanced, and with the figures that `recordings/README.md` states.

#[cfg(test)]
mod recordings {
    use mempool_core::Bytes;
    use mempool_trace::{CachingBaseline, CachingConfig, Compression, Recording, TraceSummary};

    struct Golden {
        recording: Recording,
        events: u64,
        peak_live: u128,
        most_blocks: usize,
        distinct_sizes: usize,
        largest: u64,
        /// Reserved by the caching baseline, without and with Ascend's pad; a second, naive program agrees.
        caching: u64,
        caching_padded: u64,
    }

    const GOLDEN: [Golden; 3] = [
        Golden {
            recording: Recording::RESNET50,
            events: 5344,
            peak_live: 197_173_800,
            most_blocks: 329,
            distinct_sizes: 49,
            largest: 25_690_112,
            caching: 232_783_872,
            caching_padded: 247_463_936,
        },
        Golden {
            recording: Recording::BERT_BASE,
            events: 5434,
            peak_live: 506_797_424,
            most_blocks: 216,
            distinct_sizes: 53,
            largest: 93_763_584,
            caching: 587_202_560,
            caching_padded: 587_202_560,
        },
        Golden {
            recording: Recording::YOLOV8S,
            events: 5886,
            peak_live: 139_835_668,
            most_blocks: 382,
            distinct_sizes: 133,
            largest: 26_214_400,
            caching: 178_257_920,
            caching_padded: 176_160_768,
        },
    ];

    #[test]
    fn each_has_the_stated_figures_and_ends_with_nothing_live() {
        for golden in GOLDEN {
            let name = golden.recording.name();
            let summary = TraceSummary::of(golden.recording.reader()).unwrap();
            assert_eq!(
                (summary.events, summary.peak_live_bytes),
                (golden.events, golden.peak_live),
                "{name}"
            );
            assert_eq!(summary.peak_live_blocks, golden.most_blocks, "{name}");
            assert_eq!(summary.distinct_sizes, golden.distinct_sizes, "{name}");
            assert_eq!((summary.max_size, summary.allocations), (golden.largest, summary.frees), "{name}");
            assert_eq!((summary.live_at_end_blocks, summary.live_at_end_bytes), (0, 0), "{name}");
            assert_eq!((summary.counts.findings(), summary.streams), (0, 1), "{name}");
        }
    }

    #[test]
    fn the_caching_baseline_reserves_what_it_did() {
        for Golden { recording, caching, caching_padded, .. } in GOLDEN {
            let name = recording.name();
            let reserved = |config| {
                let report = CachingBaseline::run(config, recording.reader()).unwrap();
                assert_eq!((report.failures, report.odd_rows, report.in_use), (0, 0, Bytes::ZERO), "{name}");
                report.peak_reserved.get()
            };
            let config = CachingConfig::per_stream();
            assert_eq!(
                (reserved(config), reserved(config.with_ascend_pad())),
                (caching, caching_padded),
                "{name}"
            );
            assert_eq!(reserved(config.with_shared(true)), caching, "{name} has one stream");
        }
    }

    #[test]
    fn they_are_small_and_found_by_name() {
        let bytes: usize = Recording::ALL.iter().map(|recording| recording.packed().len()).sum();
        assert!(bytes < 100_000, "{bytes}");
        for recording in Recording::ALL {
            assert_eq!(Recording::by_name(recording.name()), Some(recording));
            assert_eq!(recording.reader().compression(), Compression::Zstd);
        }
        assert_eq!(Recording::by_name("gpt"), None);
    }
}

//! Properties that hold for any input.
//!
//! * What is written reads back as the same rows, however it is packed.
//! * Any bytes whatever are read to an end without a panic, and so are damaged logs, packed or not; lenient reading
//!   gives exactly the good rows; and every pass over such rows survives them.
//! * The check agrees with a plain map.

#[cfg(test)]
mod properties {
    use std::collections::HashMap;

    use mempool_core::Bytes;
    use mempool_trace::{
        Action, CachingBaseline, CachingConfig, Compression, LiveCheck, RmmWriter, Step, SummaryBuilder,
        TimeOfDay, TraceReader, TraceRow,
    };
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn any_number() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), 1..10_u64, any::<u64>()]
    }

    fn any_row() -> impl Strategy<Value = TraceRow> {
        let action = prop_oneof![Just(Action::Allocate), Just(Action::Free), Just(Action::AllocateFailure)];
        let numbers = (any_number(), any_number(), any_number(), any_number(), any_number());
        (action, numbers).prop_map(|(action, (thread, time, pointer, size, stream))| {
            let row = TraceRow::new(action, pointer, size).with_thread(thread).with_stream(stream);
            row.with_time(TimeOfDay::from_micros(time))
        })
    }

    fn any_compression() -> impl Strategy<Value = Compression> {
        prop_oneof![Just(Compression::None), Just(Compression::Gzip), Just(Compression::Zstd)]
    }

    fn written(rows: &[TraceRow], compression: Compression) -> Vec<u8> {
        let mut writer = RmmWriter::new(Vec::new(), compression).unwrap();
        for row in rows {
            writer.write(row).unwrap();
        }
        writer.finish().unwrap()
    }

    /// Reads anything to its end, strictly and leniently, and runs every pass over what comes out.
    fn survive(bytes: &[u8]) -> Result<(), TestCaseError> {
        let mut good = Vec::new();
        let mut bad = 0_u64;
        let mut line = 0;
        let mut reader = TraceReader::from_reader(bytes).unwrap();
        while let Some(item) = reader.next() {
            match item {
                Ok(row) => {
                    prop_assert!(row.line > line && row.row == good.len() as u64 + bad + 1);
                    line = row.line;
                    good.push(row);
                }
                Err(error) => {
                    prop_assert!(!error.to_string().is_empty());
                    match error.as_row() {
                        Some(_) => bad += 1,
                        None => prop_assert!(reader.next().is_none(), "{error} is not the last item"),
                    }
                }
            }
        }
        let mut lenient = TraceReader::from_reader(bytes).unwrap().lenient();
        let kept: Vec<_> = lenient.by_ref().filter_map(Result::ok).collect();
        prop_assert_eq!(&kept, &good);
        prop_assert_eq!(lenient.skipped(), bad);

        let mut summary = SummaryBuilder::new();
        let limited = CachingConfig::per_stream().with_ascend_pad().with_capacity(Bytes::mib(64));
        let mut baselines =
            [CachingBaseline::new(CachingConfig::per_stream()), CachingBaseline::new(limited)];
        for row in &good {
            let _ = summary.add(row);
            for baseline in &mut baselines {
                baseline.apply(row);
            }
        }
        for baseline in &baselines {
            let report = baseline.report();
            prop_assert!(report.in_use <= report.reserved && report.reserved <= report.peak_reserved);
        }
        prop_assert_eq!(summary.finish().events, good.len() as u64);
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(rows in vec(any_row(), 0..200), compression in any_compression()) {
            let file = written(&rows, compression);
            let reader = TraceReader::from_reader(&file[..]).unwrap();
            prop_assert_eq!(reader.compression(), compression);
            let back: Vec<_> = reader.collect::<Result<_, _>>().unwrap();
            let placed = rows.iter().zip(1..).map(|(row, number)| row.at(number, number + 1));
            prop_assert_eq!(back, placed.collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..2000)) {
            survive(&bytes)?;
        }

        #[test]
        fn bytes_behind_the_mark_of_a_packer_are_survived(bytes in vec(any::<u8>(), 0..500), gzip in any::<bool>()) {
            let mark: &[u8] = if gzip { b"\x1f\x8b\x08\0" } else { b"\x28\xb5\x2f\xfd" };
            survive(&[mark, &bytes].concat())?;
        }

        #[test]
        fn text_near_the_format_is_survived(text in "([0-9]{0,3}[,:x\n.()]|allocate|free| failure|nil|0x|\r|,){0,300}") {
            survive(text.as_bytes())?;
        }

        #[test]
        fn damaged_logs_are_survived(
            rows in vec(any_row(), 1..50),
            compression in any_compression(),
            damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
            length in any::<prop::sample::Index>(),
            cut in any::<bool>(),
        ) {
            let mut file = written(&rows, compression);
            for (place, byte) in damage {
                let place = place.index(file.len());
                file[place] = byte;
            }
            if cut {
                file.truncate(length.index(file.len()));
            }
            survive(&file)?;
        }

        #[test]
        fn the_check_agrees_with_a_plain_map(
            rows in vec((any::<bool>(), 0..6_u64, prop_oneof![Just(0), 1..4_u64, Just(u64::MAX)]), 0..300)
        ) {
            let mut check = LiveCheck::new();
            let mut live: HashMap<u64, u64> = HashMap::new();
            for (allocate, pointer, size) in rows {
                let action = if allocate { Action::Allocate } else { Action::Free };
                let verdict = check.check(&TraceRow::new(action, pointer, size));
                let before = live.get(&pointer).copied();
                match verdict.step {
                    Step::Allocate => prop_assert!(allocate && pointer != 0 && before.is_none()),
                    Step::Replace(block) => prop_assert!(allocate && before == Some(block.size)),
                    Step::Free(block) => prop_assert!(!allocate && before == Some(block.size)),
                    Step::Skip => prop_assert!(pointer == 0 || (!allocate && before.is_none())),
                }
                let clean = match (allocate, before) {
                    _ if pointer == 0 => size == 0,
                    (true, before) => before.is_none() && size < 1 << 63,
                    (false, before) => before == Some(size),
                };
                prop_assert_eq!(verdict.finding.is_none(), clean);
                if pointer != 0 && allocate {
                    live.insert(pointer, size);
                } else {
                    live.remove(&pointer);
                }
                prop_assert_eq!(check.live_blocks(), live.len());
                prop_assert_eq!(check.live_bytes(), live.values().map(|&size| u128::from(size)).sum::<u128>());
            }
        }
    }
}

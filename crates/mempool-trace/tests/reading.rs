//! Packing, headers and long lines, end to end through the reader.

#[cfg(test)]
mod reading {
    use std::io::{self, Read, Write};

    use mempool_trace::rmm::{MAX_LINE_BYTES, REMEMBERED_BAD_ROWS};
    use mempool_trace::{
        Action, Column, Compression, RmmWriter, RowFault, TraceError, TraceReader, TraceRow,
    };

    const HEADER: &str = "Thread,Time,Action,Pointer,Size,Stream\n";

    fn log(count: u64) -> Vec<u8> {
        let mut text = HEADER.as_bytes().to_vec();
        for n in 0..count {
            writeln!(text, "7,10:00:00.{:06},allocate,{:#x},{},0x1", n % 1_000_000, 0x1000 + n * 17, n * n)
                .unwrap();
        }
        text
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 1).unwrap()
    }

    fn read(bytes: &[u8]) -> Vec<Result<TraceRow, TraceError>> {
        TraceReader::from_reader(bytes).unwrap().collect()
    }

    fn read_all(bytes: &[u8]) -> Vec<TraceRow> {
        read(bytes).into_iter().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn packing_is_told_by_the_bytes_and_changes_no_row() {
        let text = log(20_000);
        let plain = read_all(&text);
        assert_eq!(plain.len(), 20_000);
        for (packed, compression) in [(gzip(&text), Compression::Gzip), (zstd(&text), Compression::Zstd)] {
            assert_eq!(TraceReader::from_reader(&packed[..]).unwrap().compression(), compression);
            assert_eq!(read_all(&packed), plain, "{compression}");
        }
    }

    #[test]
    fn members_and_frames_are_read_to_the_last() {
        let text = log(3000);
        let plain = read_all(&text);
        for pack in [gzip, zstd] {
            // Cut in the middle of a line, as a packer that works by size does.
            let parts: Vec<u8> = text.chunks(10_007).flat_map(pack).collect();
            assert_eq!(read_all(&parts), plain);
        }
        let mut skippable = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, b'a', b'b', b'c'];
        skippable.extend(zstd(&text));
        assert_eq!(read_all(&skippable), plain);
    }

    #[test]
    fn a_packed_file_cut_off_gives_its_good_rows_and_then_says_so() {
        let text = log(60_000);
        for (packed, compression) in [(gzip(&text), Compression::Gzip), (zstd(&text), Compression::Zstd)] {
            let mut items = read(&packed[..packed.len() - 100]);
            let error = items.pop().unwrap().unwrap_err();
            assert!(
                matches!(&error, TraceError::Decompress { compression: told, line, .. }
                    if *told == compression && *line == items.len() as u64 + 1),
                "{error:?}"
            );
            assert!(items.len() > 1000, "{} rows before the damage", items.len());
            assert!(items.iter().all(Result::is_ok));
        }
    }

    #[test]
    fn every_cut_of_a_small_packed_file_is_an_error_or_empty() {
        let text = log(3);
        for packed in [gzip(&text), zstd(&text)] {
            assert_eq!(read_all(&packed).len(), 3);
            for length in 0..packed.len() {
                let mut reader = match TraceReader::from_reader(&packed[..length]) {
                    Ok(reader) => reader,
                    Err(error) => panic!("{length} bytes: {error}"),
                };
                let last = reader.by_ref().last();
                assert!(
                    matches!(last, Some(Err(_))) || length == 0,
                    "{length} of {} bytes give {last:?}",
                    packed.len()
                );
                assert!(reader.next().is_none(), "an error of the packing is the last item");
            }
        }
    }

    #[test]
    fn a_damaged_byte_in_a_gzip_file_is_an_error() {
        let mut packed = gzip(&log(2000));
        let place = packed.len() - 6;
        packed[place] ^= 1;
        let last = read(&packed).pop().unwrap();
        assert!(matches!(last, Err(TraceError::Decompress { .. })), "{last:?}");
    }

    /// Gives some bytes, then fails.
    struct Failing(io::Cursor<Vec<u8>>);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::new(io::ErrorKind::ConnectionReset, "the other side is gone")),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn an_error_of_the_input_is_told_from_one_of_the_packing() {
        let text = log(20_000);
        for mut bytes in [text.clone(), gzip(&text), zstd(&text)] {
            bytes.truncate(bytes.len() - 50);
            let mut reader = TraceReader::named("pipe", Failing(io::Cursor::new(bytes))).unwrap();
            let error = reader.by_ref().find_map(Result::err).unwrap();
            let TraceError::Read { file, source, .. } = &error else { panic!("{error:?}") };
            assert_eq!((file.as_str(), source.kind()), ("pipe", io::ErrorKind::ConnectionReset));
            assert!(error.to_string().contains("the other side is gone"), "{error}");
            assert!(reader.next().is_none());
        }
        let first = TraceReader::from_reader(Failing(io::Cursor::new(Vec::new())));
        assert!(matches!(first, Err(TraceError::Read { line: 0, .. })));
    }

    #[test]
    fn a_header_may_order_its_columns() {
        let text = "Stream,Device,Size,Pointer,Action,Time,Thread\n\
                    0x2,any,640,0xab,free,00:00:00.000001,9\n";
        let row = read_all(text.as_bytes())[0];
        let expected = TraceRow::new(Action::Free, 0xab, 640).with_stream(2).with_thread(9);
        assert_eq!(row, expected.with_time(mempool_trace::TimeOfDay::from_micros(1)).at(1, 2));
    }

    #[test]
    fn logs_joined_end_to_end_are_read_over_their_headers() {
        let text = format!("\n{HEADER}1,10:00:00,free,1,1,0\n\u{feff}{HEADER}\n2,10:00:00,free,1,1,0");
        let rows = read_all(text.as_bytes());
        assert_eq!(rows.iter().map(|row| (row.row, row.line)).collect::<Vec<_>>(), [(1, 3), (2, 6)]);
    }

    #[test]
    fn another_kind_of_file_is_refused_at_its_first_line() {
        for (bytes, missing) in [
            (&b"Thread,Time,Action,Pointer,Size\n1,10:00:00,free,1,1\n"[..], Column::Stream),
            (b"{\"traceEvents\": []}\n", Column::Thread),
            (b"\x80\x02}q\x00(U\x08segments\n", Column::Thread),
            (&[b'x'; 2 * MAX_LINE_BYTES], Column::Thread),
            (&vec![0; 300_000], Column::Thread),
        ] {
            let items = read(bytes);
            assert_eq!(items.len(), 1);
            let Err(TraceError::Header { missing: told, line: 1, .. }) = &items[0] else {
                panic!("{:?}", items[0])
            };
            assert_eq!(*told, missing);
        }
    }

    #[test]
    fn a_line_without_end_is_one_bad_row_and_reading_goes_on() {
        let mut text = log(2);
        text.extend(std::iter::repeat_n(b'1', 1 << 20));
        text.extend(b"\n1,10:00:00,free,1,1,0\n");
        let items = read(&text);
        assert_eq!(items.len(), 4);
        let bad = items[2].as_ref().unwrap_err().as_row().unwrap();
        assert_eq!((bad.line, bad.row, bad.column), (4, 3, None));
        assert_eq!(bad.reason, RowFault::LineTooLong { limit: MAX_LINE_BYTES });
        assert!(bad.excerpt.len() < 130);
        assert_eq!(items[3].as_ref().unwrap().line, 5);
    }

    #[test]
    fn two_rows_run_together_are_a_bad_row() {
        let text = format!("{HEADER}1,10:00:00,free,1,1,01,10:00:00,free,1,1,0\n");
        let bad = read(text.as_bytes()).pop().unwrap().unwrap_err();
        assert_eq!(bad.as_row().unwrap().reason, RowFault::TooManyFields { expected: 6 });
    }

    #[test]
    fn a_lenient_reader_counts_all_bad_rows_and_remembers_some() {
        let text = format!("{HEADER}{}1,10:00:00,free,1,1,0\n", "1,\u{fffd}\n".repeat(1000));
        let mut reader = TraceReader::from_reader(text.as_bytes()).unwrap().lenient();
        assert_eq!(reader.by_ref().map(Result::unwrap).count(), 1);
        assert_eq!((reader.skipped(), reader.first_skipped().len()), (1000, REMEMBERED_BAD_ROWS));
    }

    #[test]
    fn a_lenient_reader_does_not_swallow_a_damaged_file() {
        let mut packed = gzip(&log(2000));
        packed.truncate(packed.len() / 2);
        let last = TraceReader::from_reader(&packed[..]).unwrap().lenient().last();
        assert!(matches!(last, Some(Err(TraceError::Decompress { .. }))), "{last:?}");
    }

    #[test]
    fn files_are_packed_as_their_names_say_and_read_whatever_their_names_are() {
        let folder = tempfile::tempdir().unwrap();
        let row = TraceRow::new(Action::AllocateFailure, 0, u64::MAX).with_stream(u64::MAX);
        for (name, compression) in
            [("a.csv", Compression::None), ("a.csv.gz", Compression::Gzip), ("a.ZST", Compression::Zstd)]
        {
            let mut writer = RmmWriter::create(folder.path().join(name)).unwrap();
            writer.write(&row).unwrap();
            assert_eq!(writer.rows_written(), 1);
            writer.finish().unwrap();
            let renamed = folder.path().join("b.bin");
            std::fs::rename(folder.path().join(name), &renamed).unwrap();
            let mut reader = TraceReader::open(&renamed).unwrap();
            assert_eq!(reader.compression(), compression);
            assert_eq!(reader.next().unwrap().unwrap(), row.at(1, 2));
            assert!(reader.next().is_none());
        }
        assert!(RmmWriter::create(folder.path().join("no/such/folder.csv")).is_err());
    }

    /// Takes some bytes, then is full.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.0);
            self.0 -= count;
            if count == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_at_the_latest_by_finish() {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            for room in [0, 5, 100] {
                let mut refused = None;
                match RmmWriter::named("out.csv", Full(room), compression) {
                    Err(error) => refused = Some(error),
                    Ok(mut writer) => {
                        let mut random = fastrand::Rng::with_seed(1);
                        for _ in 0..100 {
                            let row = TraceRow::new(Action::Free, random.u64(..), random.u64(..));
                            if let Err(error) = writer.write(&row) {
                                refused = Some(error);
                                break;
                            }
                        }
                        if refused.is_none() {
                            refused = writer.finish().err();
                        }
                    }
                }
                let error = refused.unwrap_or_else(|| panic!("{compression} fits into {room} bytes"));
                assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
                assert!(error.to_string().contains("out.csv"), "{error}");
            }
        }
    }
}

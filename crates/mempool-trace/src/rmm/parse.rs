//! Parsing one line. No allocation, one pass over the bytes.

use super::error::RowFault;
use super::header::{Column, Layout};
use super::row::{Action, TimeOfDay, TraceRow};

/// What is wrong with a line, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) column: Option<Column>,
    pub(super) reason: RowFault,
}

/// A value and the bytes behind it.
type Parsed<'b, T> = Result<(T, &'b [u8]), RowFault>;

/// Parses `line` (without its line end). `row` and `line` of the result are left 0.
///
/// # Errors
///
/// The first fault from the left.
#[inline]
pub(super) fn parse_row(line: &[u8], layout: &Layout) -> Result<TraceRow, Fault> {
    let mut row = TraceRow::new(Action::Allocate, 0, 0);
    let mut rest = Some(line);
    for &column in &layout.fields {
        let Some(field) = rest else { return Err(missing(layout, line)) };
        let after = match column {
            Some(column) => match parse_field(&mut row, column, field) {
                Ok(after) => after,
                Err(reason) => return Err(explain(column, reason, field)),
            },
            None => skip_field(field),
        };
        rest = match after {
            [] => None,
            // Field parsers stop at a comma or at the end, `ends_here` sees to it.
            [_, tail @ ..] => Some(tail),
        };
    }
    if rest.is_some() && layout.exact {
        let reason = RowFault::TooManyFields { expected: layout.fields.len() };
        return Err(Fault { column: None, reason });
    }
    Ok(row)
}

/// Parses the field at the front of `bytes` into `row` and gives what is behind it.
#[inline]
fn parse_field<'b>(row: &mut TraceRow, column: Column, bytes: &'b [u8]) -> Result<&'b [u8], RowFault> {
    let after;
    match column {
        Column::Thread => (row.thread, after) = decimal(bytes)?,
        Column::Time => (row.time, after) = time(bytes)?,
        Column::Action => (row.action, after) = action(bytes)?,
        Column::Pointer => (row.pointer, after) = hexadecimal(bytes)?,
        Column::Size => (row.size, after) = decimal(bytes)?,
        Column::Stream => (row.stream, after) = hexadecimal(bytes)?,
    }
    Ok(after)
}

/// The first column that a line without enough fields lacks.
#[cold]
fn missing(layout: &Layout, line: &[u8]) -> Fault {
    let fields = line.split(|&byte| byte == b',').count();
    let column = layout.fields.iter().skip(fields).find_map(|&column| column);
    Fault { column, reason: RowFault::MissingField }
}

/// Says more exactly what is wrong with the field at the front of `bytes`.
#[cold]
fn explain(column: Column, reason: RowFault, bytes: &[u8]) -> Fault {
    let field = &bytes[..bytes.len() - skip_field(bytes).len()];
    let reason = if std::str::from_utf8(field).is_err() { RowFault::NotUtf8 } else { reason };
    Fault { column: Some(column), reason }
}

/// What is behind the field at the front of `bytes`.
fn skip_field(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == b',').unwrap_or(bytes.len());
    &bytes[end..]
}

/// Whether a field ends at the front of `rest`.
#[inline]
fn ends_here(rest: &[u8]) -> bool {
    matches!(rest, [] | [b',', ..])
}

/// A decimal number up to 2^64 - 1.
#[inline]
fn decimal(bytes: &[u8]) -> Parsed<'_, u64> {
    let mut value = 0_u64;
    let mut length = 0;
    let mut too_large = false;
    while let Some(digit) = bytes.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit <= 9
    {
        // Nineteen digits always fit.
        if length < 19 {
            value = value * 10 + u64::from(digit);
        } else {
            match value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit))) {
                Some(longer) => value = longer,
                None => too_large = true,
            }
        }
        length += 1;
    }
    let rest = &bytes[length..];
    if length == 0 || !ends_here(rest) {
        return Err(RowFault::NotDecimal);
    }
    if too_large { Err(RowFault::NumberTooLarge) } else { Ok((value, rest)) }
}

/// Value of each hexadecimal digit, [`NO_DIGIT`] for all other bytes.
const HEX_DIGITS: [u8; 256] = {
    let mut table = [NO_DIGIT; 256];
    let mut value = 0_u8;
    while value < 16 {
        let digit = b"0123456789abcdef"[value as usize];
        table[digit as usize] = value;
        table[digit.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    table
};

const NO_DIGIT: u8 = 0xff;

/// A hexadecimal number up to 2^64 - 1, with or without `0x`, or `(nil)` for 0.
#[inline]
fn hexadecimal(bytes: &[u8]) -> Parsed<'_, u64> {
    let digits = match bytes {
        [b'(', b'n', b'i', b'l', b')', rest @ ..] if ends_here(rest) => return Ok((0, rest)),
        [b'0', b'x' | b'X', digits @ ..] | digits => digits,
    };
    let mut value = 0_u64;
    let mut length = 0;
    let mut lost = 0_u64;
    while let Some(digit) = digits.get(length).map(|&byte| HEX_DIGITS[usize::from(byte)])
        && digit != NO_DIGIT
    {
        lost |= value >> 60;
        value = value << 4 | u64::from(digit);
        length += 1;
    }
    let rest = &digits[length..];
    if length == 0 || !ends_here(rest) {
        return Err(RowFault::NotHexadecimal);
    }
    if lost == 0 { Ok((value, rest)) } else { Err(RowFault::NumberTooLarge) }
}

/// One of the three actions.
#[inline]
fn action(bytes: &[u8]) -> Parsed<'_, Action> {
    let (action, rest) = match bytes {
        [b'a', b'l', b'l', b'o', b'c', b'a', b't', b'e', rest @ ..] => match rest {
            [b' ', b'f', b'a', b'i', b'l', b'u', b'r', b'e', rest @ ..] => (Action::AllocateFailure, rest),
            rest => (Action::Allocate, rest),
        },
        [b'f', b'r', b'e', b'e', rest @ ..] => (Action::Free, rest),
        _ => return Err(RowFault::UnknownAction),
    };
    if ends_here(rest) { Ok((action, rest)) } else { Err(RowFault::UnknownAction) }
}

/// `HH:MM:SS`, then nothing, a point and 1 to 9 decimals (below microseconds they are dropped), or, as older RMM wrote
/// it, a colon and six digits. A leap second counts as the second before it does: 23:59:60 is the last time of the day.
#[inline]
fn time(bytes: &[u8]) -> Parsed<'_, TimeOfDay> {
    let [h1, h0, b':', m1, m0, b':', s1, s0, rest @ ..] = bytes else { return Err(RowFault::NotATime) };
    let (hour, minute, second) = (two_digits(*h1, *h0), two_digits(*m1, *m0), two_digits(*s1, *s0));
    if hour > 23 || minute > 59 || second > 60 {
        return Err(RowFault::NotATime);
    }
    let (fraction, rest) = match rest {
        [b'.', digits @ ..] => fraction(digits)?,
        [b':', digits @ ..] => {
            let (micros, after) = fraction(digits)?;
            if digits.len() - after.len() != 6 {
                return Err(RowFault::NotATime);
            }
            (micros, after)
        }
        rest => (0, rest),
    };
    if !ends_here(rest) {
        return Err(RowFault::NotATime);
    }
    let micros = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
    Ok((TimeOfDay::from_micros(micros.min(TimeOfDay::MICROS_PER_DAY - 1)), rest))
}

/// The number of two digits, above 99 when one is none.
#[inline]
fn two_digits(tens: u8, ones: u8) -> u64 {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    if tens > 9 || ones > 9 { 100 } else { u64::from(tens) * 10 + u64::from(ones) }
}

/// Decimals of a second as microseconds.
#[inline]
fn fraction(bytes: &[u8]) -> Parsed<'_, u64> {
    let mut micros = 0;
    let mut length = 0;
    let mut weight = 100_000;
    while let Some(digit) = bytes.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit <= 9
    {
        micros += u64::from(digit) * weight;
        weight /= 10;
        length += 1;
    }
    if (1..=9).contains(&length) { Ok((micros, &bytes[length..])) } else { Err(RowFault::NotATime) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_of(result: Parsed<'_, u64>) -> Result<u64, RowFault> {
        result.map(|(value, _)| value)
    }

    #[test]
    fn decimals_reach_2_pow_64_minus_1_and_no_further() {
        assert_eq!(number_of(decimal(b"18446744073709551615,")), Ok(u64::MAX));
        assert_eq!(number_of(decimal(b"00000000000000000000018446744073709551615")), Ok(u64::MAX));
        assert_eq!(number_of(decimal(b"18446744073709551616")), Err(RowFault::NumberTooLarge));
        assert_eq!(number_of(decimal(b"99999999999999999999")), Err(RowFault::NumberTooLarge));
        for bad in ["", "-1", "+1", "1 ", " 1", "0x1", "1e3", "1.0", ","] {
            assert_eq!(number_of(decimal(bad.as_bytes())), Err(RowFault::NotDecimal), "{bad:?}");
        }
    }

    #[test]
    fn pointers_are_base_16_with_or_without_their_prefix() {
        for (text, value) in [
            ("0x10000000", 0x1000_0000),
            ("0X10000000", 0x1000_0000),
            ("10000000", 0x1000_0000),
            ("(nil)", 0),
            ("0", 0),
            ("0x0", 0),
            ("0xffffFFFFffffFFFF", u64::MAX),
            ("0x00000000000000000001", 1),
        ] {
            assert_eq!(number_of(hexadecimal(text.as_bytes())), Ok(value), "{text}");
        }
        assert_eq!(number_of(hexadecimal(b"0x10000000000000000")), Err(RowFault::NumberTooLarge));
        for bad in ["", "0x", "x1", "nil", "(nil", "(nil) ", "0xg", "0x0x1", ","] {
            assert_eq!(number_of(hexadecimal(bad.as_bytes())), Err(RowFault::NotHexadecimal), "{bad:?}");
        }
    }

    #[test]
    fn both_time_forms_of_rmm_are_read() {
        for (text, micros) in [
            ("00:00:00.000000", 0),
            ("10:00:00.000010", 36_000_000_010),
            ("10:00:00:000010", 36_000_000_010),
            ("23:59:59.999999", 86_399_999_999),
            ("23:59:60.5", 86_399_999_999),
            ("01:02:03", 3_723_000_000),
            ("01:02:03.5", 3_723_500_000),
            ("01:02:03.123456789", 3_723_123_456),
        ] {
            assert_eq!(time(text.as_bytes()).map(|(time, _)| time.micros()), Ok(micros), "{text}");
        }
        for bad in [
            "",
            "1:00:00.0",
            "24:00:00.000000",
            "10:60:00.000000",
            "10:00:61.000000",
            "10:00:00.",
            "10:00:00:10",
            "10:00:00.1234567890",
            "10:00:00.00001x",
            "10-00-00.000000",
            "1a:00:00.000000",
        ] {
            assert_eq!(
                time(bad.as_bytes()).map(|(time, _)| time.micros()),
                Err(RowFault::NotATime),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn only_the_three_actions_are_known() {
        let name = |text: &str| action(text.as_bytes()).map(|(action, _)| action);
        assert_eq!(name("allocate"), Ok(Action::Allocate));
        assert_eq!(name("allocate failure"), Ok(Action::AllocateFailure));
        assert_eq!(name("free"), Ok(Action::Free));
        for bad in [
            "",
            "fre",
            "freed",
            "ALLOCATE",
            "reallocate",
            "allocate ",
            "allocate  failure",
            "allocatefailure",
        ] {
            assert_eq!(name(bad), Err(RowFault::UnknownAction), "{bad:?}");
        }
    }

    #[test]
    fn a_fault_names_its_column() {
        let layout = Layout::without_header();
        let fault = |line: &[u8]| parse_row(line, &layout).unwrap_err();
        let at = |column, reason| Fault { column: Some(column), reason };
        assert_eq!(fault(b""), at(Column::Thread, RowFault::NotDecimal));
        assert_eq!(fault(b"1,10:00:00.000010,free,0x1"), at(Column::Size, RowFault::MissingField));
        assert_eq!(fault(b"1,10:00:00.000010,free,0x1,"), at(Column::Size, RowFault::NotDecimal));
        assert_eq!(fault(b"1,10:00:00.000010,free,0x1,4096"), at(Column::Stream, RowFault::MissingField));
        assert_eq!(fault(b"1,10:00:00.000010,fr\xffee,0x1,1,0"), at(Column::Action, RowFault::NotUtf8));
        assert_eq!(fault(b"1,10:00:00.000010,free,0x1,1,zz"), at(Column::Stream, RowFault::NotHexadecimal));
    }

    #[test]
    fn more_fields_are_refused_only_where_a_header_counted_them() {
        let line = b"1,10:00:00.000010,free,0x1,4096,0,extra";
        assert!(parse_row(line, &Layout::without_header()).is_ok());
        let layout = Layout::from_header(b"Thread,Time,Action,Pointer,Size,Stream").unwrap();
        let fault = parse_row(line, &layout).unwrap_err();
        assert_eq!(fault, Fault { column: None, reason: RowFault::TooManyFields { expected: 6 } });
        let layout = Layout::from_header(b"Thread,Time,Action,Pointer,Size,Stream,Device").unwrap();
        assert!(parse_row(line, &layout).is_ok());
    }

    #[test]
    fn a_missing_unread_column_is_a_fault_of_the_line() {
        let layout = Layout::from_header(b"Thread,Time,Action,Pointer,Size,Stream,Device").unwrap();
        let fault = parse_row(b"1,10:00:00.000010,free,0x1,4096,0", &layout).unwrap_err();
        assert_eq!(fault, Fault { column: None, reason: RowFault::MissingField });
    }
}

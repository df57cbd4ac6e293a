//! Numbers as people read them.

use mempool_core::Bytes;

/// Three significant digits and a binary unit: `483 MiB`, `19.5 GiB`.
pub(crate) fn size(bytes: Bytes) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = bytes.get() as f64;
    let mut unit = 0;
    // 999.5 would be shown as 1000.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Groups of three digits: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time with its unit: `45 ns`, `1.3 µs`, `2.1 ms`, `3.0 s`.
pub(crate) fn time(ns: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let value = ns as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.1} s", value / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits_and_never_1000() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "0.98 KiB"),
            (1536, "1.50 KiB"),
            (44_800 << 10, "43.8 MiB"),
            (506_797_424, "483 MiB"),
            (999 << 20, "999 MiB"),
            (1_023 << 20, "1.00 GiB"),
            (20_954_967_360, "19.5 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(Bytes::new(bytes)), text, "{bytes}");
        }
    }

    #[test]
    fn counts_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn times_have_a_fitting_unit() {
        for (ns, text) in
            [(0, "0 ns"), (999, "999 ns"), (1_500, "1.5 µs"), (2_100_000, "2.1 ms"), (3_000_000_000, "3.0 s")]
        {
            assert_eq!(time(ns), text);
        }
    }
}

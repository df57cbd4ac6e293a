//! Sizes, addresses and alignments as types whose arithmetic is checked.

use std::fmt;
use std::iter::Sum;
use std::str::FromStr;

/// A number of bytes.
///
/// Arithmetic is checked: methods return `None` where the result would not fit into 64 bits or would be negative.
/// `Display` uses binary units with two decimals (`1.50 MiB`); `FromStr` takes what people write.
///
/// ```
/// use mempool_core::Bytes;
/// assert_eq!("8GiB".parse::<Bytes>()?, Bytes::gib(8));
/// assert_eq!(Bytes::new(1_572_864).to_string(), "1.50 MiB");
/// # Ok::<(), mempool_core::ParseBytesError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest number that the type holds, 2^64 - 1.
    pub const MAX: Self = Self(u64::MAX);

    /// `count` bytes.
    #[inline]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// `count` times 1024 bytes, at most [`Bytes::MAX`].
    pub const fn kib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 10))
    }

    /// `count` times 1024^2 bytes, at most [`Bytes::MAX`].
    pub const fn mib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 20))
    }

    /// `count` times 1024^3 bytes, at most [`Bytes::MAX`].
    pub const fn gib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 30))
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether this is 0.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Sum, `None` past 2^64 - 1.
    #[inline]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// Difference, `None` below 0.
    #[inline]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Self(difference)),
            None => None,
        }
    }

    /// Sum, at most [`Bytes::MAX`].
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Difference, at least 0.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The next multiple of `alignment` at or above this, `None` past 2^64 - 1.
    #[inline]
    pub const fn align_up(self, alignment: Alignment) -> Option<Self> {
        let mask = alignment.0 - 1;
        match self.0.checked_add(mask) {
            Some(sum) => Some(Self(sum & !mask)),
            None => None,
        }
    }

    /// The last multiple of `alignment` at or below this.
    #[inline]
    #[must_use]
    pub const fn align_down(self, alignment: Alignment) -> Self {
        Self(self.0 & !(alignment.0 - 1))
    }

    /// The next multiple of `granularity` (any positive number) at or above this, `None` past 2^64 - 1 or when
    /// `granularity` is 0.
    pub const fn round_up_to(self, granularity: Self) -> Option<Self> {
        if granularity.0 == 0 {
            return None;
        }
        match self.0.div_ceil(granularity.0).checked_mul(granularity.0) {
            Some(rounded) => Some(Self(rounded)),
            None => None,
        }
    }

    /// This divided by `whole`, 0 when `whole` is 0.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people; 53 bits are plenty")]
    pub fn ratio_of(self, whole: Self) -> f64 {
        if whole.0 == 0 { 0.0 } else { self.0 as f64 / whole.0 as f64 }
    }
}

impl From<u64> for Bytes {
    fn from(count: u64) -> Self {
        Self(count)
    }
}

impl Sum for Bytes {
    /// Adds up, at most [`Bytes::MAX`].
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Self::saturating_add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 6] =
            [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        for (unit, shift) in UNITS {
            let one = 1_u64 << shift;
            if self.0 >= one {
                if self.0 & (one - 1) == 0 {
                    return f.pad(&format!("{} {unit}", self.0 >> shift));
                }
                #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
                let value = self.0 as f64 / one as f64;
                return f.pad(&format!("{value:.2} {unit}"));
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.0)
    }
}

/// A text that is not a number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a size: {reason}; write bytes (8589934592) or a number with KiB, MiB, GiB or TiB (8GiB)"
)]
pub struct ParseBytesError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Takes `8589934592`, `8GiB`, `1.5 MiB`, `512k`. All units are binary (`K`, `KB` and `KiB` are 1024 bytes), as in
    /// CANN's own settings; case and inner space do not matter. The result must be a whole number of bytes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason| ParseBytesError { text: text.to_owned(), reason };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(fail("it is empty"));
        }
        let digits_end =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits_end);
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0_u32,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(fail("the unit is unknown")),
        };
        let number: String = number.chars().filter(|&c| c != '_').collect();
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(fail("it does not start with a number"));
        }
        if fraction.contains('.') {
            return Err(fail("it has more than one point"));
        }
        let too_large = || fail("it passes 2^64 - 1 bytes");
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
        let mut total = u128::from(whole) << shift;
        let fraction = fraction.trim_end_matches('0');
        if !fraction.is_empty() {
            if fraction.len() > 18 {
                return Err(fail("it has more than 18 decimals"));
            }
            let digits: u128 = fraction.parse().map_err(|_| too_large())?;
            let scaled = digits << shift;
            let unit_in_decimals = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
            if !scaled.is_multiple_of(unit_in_decimals) {
                return Err(fail("it is not a whole number of bytes"));
            }
            total += scaled / unit_in_decimals;
        }
        u64::try_from(total).map(Self).map_err(|_| too_large())
    }
}

/// An address in the address space of a device. Plain arithmetic: the core never reads what is stored there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceAddress(u64);

impl DeviceAddress {
    /// The address `value`.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The address `offset` behind this one, `None` past 2^64 - 1.
    #[inline]
    pub const fn checked_add(self, offset: Bytes) -> Option<Self> {
        match self.0.checked_add(offset.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// How far this lies behind `base`, `None` when it lies before.
    #[inline]
    pub const fn checked_offset_from(self, base: Self) -> Option<Bytes> {
        match self.0.checked_sub(base.0) {
            Some(offset) => Some(Bytes(offset)),
            None => None,
        }
    }

    /// Whether this is a multiple of `alignment`.
    #[inline]
    pub const fn is_aligned(self, alignment: Alignment) -> bool {
        self.0 & (alignment.0 - 1) == 0
    }
}

impl fmt::Display for DeviceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for DeviceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceAddress({:#x})", self.0)
    }
}

/// A power of two that addresses are multiples of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alignment(u64);

impl Alignment {
    /// Any address.
    pub const ONE: Self = Self(1);
    /// Multiples of 32 bytes.
    pub const B_32: Self = Self(32);
    /// Multiples of 512 bytes: what every block of a pool has without asking.
    pub const B_512: Self = Self(512);
    /// Multiples of 2 MiB.
    pub const MIB_2: Self = Self(1 << 21);
    /// Multiples of 1 GiB: the largest alignment that a pool serves.
    pub const GIB_1: Self = Self(1 << 30);

    /// The alignment `bytes`.
    ///
    /// # Errors
    ///
    /// [`AlignmentError`] when `bytes` is 0 or not a power of two.
    pub const fn new(bytes: u64) -> Result<Self, AlignmentError> {
        if bytes.is_power_of_two() { Ok(Self(bytes)) } else { Err(AlignmentError { alignment: bytes }) }
    }

    /// The plain number of bytes, a power of two.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The same as a number of bytes.
    #[inline]
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0)
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}

impl fmt::Debug for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Alignment({})", self.0)
    }
}

/// A number that is no alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("alignment {alignment} is not a power of two; use 1, 2, 4, ... up to 1 GiB")]
pub struct AlignmentError {
    /// The number as given.
    pub alignment: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("8589934592", 8 << 30),
            ("8GiB", 8 << 30),
            ("8 gib", 8 << 30),
            ("1.5MiB", 3 << 19),
            ("512k", 512 << 10),
            (" 2M ", 2 << 20),
            ("1_000", 1000),
            (".5K", 512),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_a_reason() {
        for text in [
            "",
            " ",
            "GiB",
            "-1",
            "1.2.3K",
            "8 apples",
            "0.3B",
            "18446744073709551616",
            "16777216T",
            "1e9",
            "٣",
        ] {
            let error = text.parse::<Bytes>().unwrap_err();
            assert_eq!(error.text, text);
        }
    }

    #[test]
    fn display_is_exact_where_it_can_be() {
        assert_eq!(Bytes::new(1023).to_string(), "1023 B");
        assert_eq!(Bytes::gib(8).to_string(), "8 GiB");
        assert_eq!(Bytes::new(1_572_864).to_string(), "1.50 MiB");
        assert_eq!(format!("{:>8}", Bytes::kib(1)), "   1 KiB");
        assert_eq!(Bytes::MAX.to_string(), "16.00 EiB");
    }

    #[test]
    fn arithmetic_reports_overflow_instead_of_wrapping() {
        assert_eq!(Bytes::MAX.checked_add(Bytes::new(1)), None);
        assert_eq!(Bytes::MAX.align_up(Alignment::MIB_2), None);
        assert_eq!(Bytes::MAX.round_up_to(Bytes::new(1000)), None);
        assert_eq!(Bytes::new(1).round_up_to(Bytes::ZERO), None);
        assert_eq!(Bytes::ZERO.checked_sub(Bytes::new(1)), None);
        assert_eq!(DeviceAddress::new(u64::MAX).checked_add(Bytes::new(1)), None);
    }

    #[test]
    fn alignments_are_powers_of_two() {
        for bad in [0, 3, 48, u64::MAX] {
            assert_eq!(Alignment::new(bad), Err(AlignmentError { alignment: bad }));
        }
        for shift in 0..64 {
            assert_eq!(Alignment::new(1 << shift).map(Alignment::get), Ok(1 << shift));
        }
    }
}

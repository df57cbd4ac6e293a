//! Numbers of 16 bits as ACL converts them: saturating, without infinities.

/// As ACL says: an exponent of all ones is an ordinary one, so infinity is 65536 and no number is 98304.
pub(crate) fn to_float(half: u16) -> f32 {
    let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), f32::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        _ => (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    };
    if half >> 15 == 0 { magnitude } else { -magnitude }
}

/// To the nearest half, the even one of two; what is too large, infinite or no number becomes the largest, 65504.
pub(crate) fn from_float(value: f32) -> u16 {
    const LARGEST: u16 = 0x7bff;
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() || magnitude >= to_float(LARGEST) {
        return sign | LARGEST;
    }
    // The patterns of halves grow with their values, so the nearest is found between two neighbours.
    let (mut below, mut above) = (0, LARGEST);
    while above - below > 1 {
        let middle = below.midpoint(above);
        if to_float(middle) <= magnitude { below = middle } else { above = middle }
    }
    let (down, up) = (magnitude - to_float(below), to_float(above) - magnitude);
    let rounds_down = down < up || (down.total_cmp(&up).is_eq() && below % 2 == 0);
    sign | if rounds_down { below } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_comes_back() {
        for half in (0..=0x7bff).flat_map(|half| [half, half | 0x8000]) {
            assert_eq!(from_float(to_float(half)), half, "{half:#x}");
        }
    }

    #[test]
    fn conversions_saturate_and_round_to_the_even_one() {
        for (float, half) in [
            (1.625, 0x3e80),
            (f32::INFINITY, 0x7bff),
            (f32::NEG_INFINITY, 0xfbff),
            (f32::NAN, 0x7bff),
            (65519.0, 0x7bff),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2.0_f32.powi(-25), 0),
        ] {
            assert_eq!(from_float(float), half, "{float}");
        }
        assert_eq!(
            [to_float(0x7c00), to_float(0x7e00)].map(f32::to_bits),
            [65536.0_f32, 98304.0].map(f32::to_bits)
        );
    }
}

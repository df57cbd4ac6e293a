//! What a chip wants of blocks in its memory, by its name.

use mempool_core::{Alignment, Bytes, TailPadding};

/// Every block that a kernel touches starts at a multiple of this, on all chips.
pub(crate) const BLOCK_ALIGNMENT: Alignment = match Alignment::new(64) {
    Ok(alignment) => alignment,
    Err(_) => panic!("64 is a power of two"),
};

/// What lies behind the requested bytes of a block.
///
/// The engines of chips before the 950 may read up to 32 bytes past the end. A name that is not known is taken for such a chip:
/// padding that is not needed costs 32 bytes a block, padding that is missing costs the neighbour.
pub(crate) fn tail_padding(soc: &str) -> TailPadding {
    if soc.starts_with("Ascend950") {
        TailPadding { round_to: Alignment::B_32, extra: Bytes::ZERO }
    } else {
        TailPadding::ASCEND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_before_the_950_and_unknown_ones_are_padded() {
        for soc in
            ["Ascend910B3", "Ascend910_9391", "Ascend310P3", "Ascend310B4", "Ascend910A", "", "Ascend1000"]
        {
            assert_eq!(tail_padding(soc), TailPadding::ASCEND, "{soc:?}");
        }
        for soc in ["Ascend950PR_9599", "Ascend950DT_9581", "Ascend950"] {
            assert_eq!(tail_padding(soc).padded(Bytes::new(100)), Some(Bytes::new(128)), "{soc:?}");
        }
    }
}

//! What addresses have in common.

use mempool_core::Bytes;

/// The largest power of two of which all addresses are multiples.
pub(crate) fn alignment(addresses: impl IntoIterator<Item = u64>) -> String {
    let bits = addresses.into_iter().fold(0, |bits, address| bits | address);
    let alignment = 1_u64.checked_shl(bits.trailing_zeros()).unwrap_or(0);
    format!("{} at least", Bytes::new(alignment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_alignment_of_addresses_is_found() {
        assert_eq!(alignment([0x400_000, 0x600_000]), "2 MiB at least");
        assert_eq!(alignment([0x400_000, 0x600_200]), "512 B at least");
    }
}

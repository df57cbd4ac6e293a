//! The pages of a device: one sparse memory file, handed out in extents.
//!
//! # Invariants
//!
//! * I1: extents are handed out at ever growing offsets; no byte of the file ever belongs to two extents. The file is
//!   sparse, so used-up offsets cost nothing, and 2^63 bytes of them last.
//! * I2: the file never shrinks, so a mapping of an extent never reaches past its end.
//! * I3: a released extent holds no host memory.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{FallocateFlags, MemfdFlags};

/// A part of the file, in bytes; both numbers are multiples of the page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

#[derive(Debug)]
pub(crate) struct PageStore {
    file: File,
    next_offset: u64,
    file_length: u64,
}

impl PageStore {
    pub(crate) fn new() -> io::Result<Self> {
        let file = File::from(rustix::fs::memfd_create("host-device", MemfdFlags::CLOEXEC)?);
        Ok(Self { file, next_offset: 0, file_length: 0 })
    }

    /// Makes room for an extent of at least `size` bytes. Nothing is taken until [`Self::commit`], so that a caller
    /// that fails in between loses nothing.
    pub(crate) fn prepare(&mut self, size: u64) -> io::Result<Extent> {
        let too_large = || io::Error::from(rustix::io::Errno::FBIG);
        let page = rustix::param::page_size() as u64;
        let length = size.checked_next_multiple_of(page).ok_or_else(too_large)?;
        let end = self.next_offset.checked_add(length).ok_or_else(too_large)?;
        if end > self.file_length {
            self.file.set_len(end)?;
            self.file_length = end;
        }
        Ok(Extent { offset: self.next_offset, length })
    }

    /// Takes what [`Self::prepare`] answered last.
    pub(crate) fn commit(&mut self, extent: Extent) {
        debug_assert_eq!(extent.offset, self.next_offset, "I1: extents do not overlap");
        self.next_offset = extent.offset + extent.length;
    }

    /// Gives the host its memory back. Whoever reads the extent afterwards finds zeros.
    pub(crate) fn release(&self, extent: Extent) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.file, flags, extent.offset, extent.length)?)
    }

    /// Copies bytes in. Coherent with every mapping of the file.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    /// Copies bytes out. Pages never written read as zeros and stay uncommitted.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    /// Bytes of host memory behind the file now.
    pub(crate) fn committed_bytes(&self) -> io::Result<u64> {
        // `st_blocks` counts units of 512 bytes on every file system of Linux.
        Ok(self.file.metadata()?.blocks().saturating_mul(512))
    }
}

impl AsFd for PageStore {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_extents_follow_each_other_and_prepared_ones_are_not_taken() {
        let mut store = PageStore::new().unwrap();
        let page = rustix::param::page_size() as u64;
        let abandoned = store.prepare(5 * page).unwrap();
        let first = store.prepare(1).unwrap();
        assert_eq!(first, Extent { offset: abandoned.offset, length: page });
        store.commit(first);
        let second = store.prepare(page).unwrap();
        assert_eq!(second.offset, first.offset + page);
    }

    #[test]
    fn sizes_no_file_can_have_are_refused() {
        let mut store = PageStore::new().unwrap();
        for size in [u64::MAX, u64::MAX - 4095, 1 << 63] {
            assert!(store.prepare(size).is_err(), "{size}");
        }
        assert!(store.prepare(1).is_ok());
    }

    #[test]
    fn a_released_extent_holds_no_memory_and_reads_as_zeros() {
        let mut store = PageStore::new().unwrap();
        let extent = store.prepare(1 << 16).unwrap();
        store.commit(extent);
        assert_eq!(store.committed_bytes().unwrap(), 0);
        store.write(extent.offset, &vec![7; 1 << 16]).unwrap();
        assert!(store.committed_bytes().unwrap() >= 1 << 16);
        store.release(extent).unwrap();
        assert_eq!(store.committed_bytes().unwrap(), 0);
        let mut bytes = [1; 64];
        store.read(extent.offset, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 64]);
    }
}

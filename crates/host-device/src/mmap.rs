//! Mappings of a device's pages into this process: the only file with `unsafe`.
//!
//! The crate maps pages so that their addresses are real, unique in the process, and usable by foreign code; it never
//! reads or writes through them. So the whole duty of this file is not to map over, and not to unmap, what somebody
//! else owns.
//!
//! # Invariants
//!
//! * I1: `[address, address + length)` of a [`Mapping`] was mapped by it and belongs to it alone, or `length` is 0.
//! * I2: `address` and `length` are multiples of the page size.

use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use crate::page_store::Extent;

/// A range of addresses that this process owns; unmapped on drop.
///
/// It keeps an exposed address and not a pointer: whoever holds the number may use it as a pointer, and the type may
/// move between threads.
#[derive(Debug)]
pub(crate) struct Mapping {
    address: usize,
    length: usize,
}

impl Mapping {
    /// Maps `extent` of `file`, shared, at a multiple of `alignment`, a power of two.
    ///
    /// ```text
    /// reservation  |<------- length + alignment - page ------->|
    /// kept            |<------ length ------>|   (starts at a multiple of alignment)
    /// ```
    pub(crate) fn of_file(file: BorrowedFd<'_>, extent: Extent, alignment: u64) -> io::Result<Self> {
        let mut mapping = Self::aligned(extent.length, alignment)?;
        if let Err(error) = map_over(mapping.address, mapping.length, Some((file, extent.offset))) {
            // A kernel may have removed the reservation before it failed, and another thread may have got the
            // addresses since. Not to unmap them loses at worst some address space.
            mapping.length = 0;
            return Err(error);
        }
        Ok(mapping)
    }

    /// Takes `length` bytes of address space at a multiple of `alignment`, without memory and without access.
    fn aligned(length: u64, alignment: u64) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let length = usize::try_from(length).map_err(|_| Errno::NOMEM)?;
        let alignment = usize::try_from(alignment).map_err(|_| Errno::NOMEM)?.max(page);
        if length == 0 || length % page != 0 || !alignment.is_power_of_two() {
            return Err(Errno::INVAL.into());
        }
        let mut mapping = Self::reserve(length.checked_add(alignment - page).ok_or(Errno::NOMEM)?)?;
        mapping.trim(alignment, length)?;
        Ok(mapping)
    }

    /// Address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.address as u64
    }

    /// Gives the addresses back. On an error they stay mapped and owned.
    pub(crate) fn unmap(&mut self) -> io::Result<()> {
        self.cut(self.address, self.length)?;
        self.length = 0;
        Ok(())
    }

    /// Takes `length` bytes of address space, without memory and without access.
    fn reserve(length: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: with a null hint and without `MAP_FIXED` the kernel picks addresses that nothing else occupies, so no
        // memory that Rust knows of changes.
        let base = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), length, ProtFlags::empty(), flags) }?;
        Ok(Self { address: base.expose_provenance(), length })
    }

    /// Keeps `length` bytes from the first multiple of `alignment` on and gives back what lies before and behind.
    fn trim(&mut self, alignment: usize, length: usize) -> io::Result<()> {
        let end = self.address + self.length;
        let kept = self.address.next_multiple_of(alignment);
        self.cut(self.address, kept - self.address)?;
        self.address = kept;
        self.length = end - kept;
        self.cut(kept + length, end - (kept + length))?;
        self.length = length;
        Ok(())
    }

    /// Unmaps `length` bytes at `address`, both within this mapping; the caller adjusts the fields.
    fn cut(&self, address: usize, length: usize) -> io::Result<()> {
        debug_assert!(address >= self.address && address + length <= self.address + self.length, "I1");
        if length == 0 {
            return Ok(());
        }
        let start = ptr::with_exposed_provenance_mut::<c_void>(address);
        // SAFETY: the range lies within this mapping (callers pass its own bounds or a part of them), which nobody else
        // owns (I1), and this crate makes no reference into it. Foreign code that keeps using an address after the
        // range was freed breaks the rule that every allocator has.
        unsafe { rustix::mm::munmap(start, length) }?;
        Ok(())
    }
}

/// Puts the pages of a file, from an offset on, or nothing accessible in the place of `length` bytes at `address`. The
/// caller owns all of them (I1) and nothing of Rust's lives there. After an error it is unknown who owns them.
fn map_over(address: usize, length: usize, pages: Option<(BorrowedFd<'_>, u64)>) -> io::Result<()> {
    let start = ptr::with_exposed_provenance_mut::<c_void>(address);
    if let Some((file, offset)) = pages {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: `MAP_FIXED` replaces exactly the range that the caller owns; foreign code that still uses an address
        // in it finds other bytes, as it would on a device.
        unsafe { rustix::mm::mmap(start, length, access, flags, file, offset) }?;
    } else {
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: as above, but what replaces the range can not be accessed at all.
        unsafe { rustix::mm::mmap_anonymous(start, length, ProtFlags::empty(), flags) }?;
    }
    Ok(())
}

/// Addresses without memory, in parts of which pages of a file can be shown and hidden again; given back on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    addresses: Mapping,
    /// A system call failed half-way: somebody else may own a part of the addresses now, so none is touched again.
    lost: bool,
}

impl Reservation {
    /// Takes `length` bytes of address space, a multiple of the page size, at a multiple of `alignment`.
    pub(crate) fn new(length: u64, alignment: u64) -> io::Result<Self> {
        Ok(Self { addresses: Mapping::aligned(length, alignment)?, lost: false })
    }

    /// Address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.addresses.address()
    }

    /// Shows `extent` of `file` from `offset` bytes behind the base on.
    pub(crate) fn show(&mut self, offset: u64, file: BorrowedFd<'_>, extent: Extent) -> io::Result<()> {
        if self.lost {
            return Err(Errno::NOMEM.into());
        }
        let (address, length) = self.part(offset, extent.length)?;
        map_over(address, length, Some((file, extent.offset))).inspect_err(|_| self.lost = true)
    }

    /// Makes `length` bytes from `offset` on inaccessible again. Of a lost reservation it does nothing.
    pub(crate) fn hide(&mut self, offset: u64, length: u64) -> io::Result<()> {
        if self.lost {
            return Ok(());
        }
        let (address, length) = self.part(offset, length)?;
        map_over(address, length, None).inspect_err(|_| self.lost = true)
    }

    /// Gives the addresses back. On an error they stay owned.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        if self.lost {
            self.addresses.length = 0;
        }
        self.addresses.unmap()
    }

    /// Address and length of a part, if it lies within this reservation (I1) and on pages (I2).
    fn part(&self, offset: u64, length: u64) -> io::Result<(usize, usize)> {
        let page = rustix::param::page_size();
        let offset = usize::try_from(offset).map_err(|_| Errno::INVAL)?;
        let length = usize::try_from(length).map_err(|_| Errno::INVAL)?;
        let fits = offset.checked_add(length).is_some_and(|end| end <= self.addresses.length);
        if !fits || length == 0 || offset % page != 0 || length % page != 0 {
            return Err(Errno::INVAL.into());
        }
        Ok((self.addresses.address + offset, length))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // As for a mapping; of a lost reservation this forgets the addresses.
        let _still_taken = self.release();
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // The only possible failure is that the process has too many mappings to split one. The addresses then stay
        // taken, which harms nobody, and a destructor has no one to tell.
        let _still_mapped = self.unmap();
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::page_store::PageStore;

    fn mapped(size: u64, alignment: u64) -> (PageStore, Extent, Mapping) {
        let mut store = PageStore::new().unwrap();
        let extent = store.prepare(size).unwrap();
        store.commit(extent);
        let mapping = Mapping::of_file(store.as_fd(), extent, alignment).unwrap();
        (store, extent, mapping)
    }

    /// The lines of `/proc/self/maps` about the file behind `store`, which its inode tells from all others.
    fn maps_of(store: &PageStore) -> Vec<String> {
        let inode = rustix::fs::fstat(store.as_fd()).unwrap().st_ino.to_string();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let is_ours = |line: &&str| {
            line.contains("memfd:host-device") && line.split_whitespace().nth(4) == Some(&inode)
        };
        maps.lines().filter(is_ours).map(String::from).collect()
    }

    #[test]
    fn the_address_reaches_the_same_bytes_as_the_file() {
        let (store, extent, mapping) = mapped(1 << 16, 1 << 16);
        store.write(extent.offset + 5, &[0xAB]).unwrap();
        let base = ptr::with_exposed_provenance_mut::<u8>(usize::try_from(mapping.address()).unwrap());
        // SAFETY: offset 5 lies within the 64 KiB that are mapped.
        let byte = unsafe { base.add(5) };
        // SAFETY: `byte` is mapped readable while `mapping` lives, and no other thread knows it.
        let seen = unsafe { byte.read_volatile() };
        assert_eq!(seen, 0xAB);
        // SAFETY: as above; it is mapped writable too.
        unsafe { byte.write_volatile(0xCD) };
        let mut back = [0];
        store.read(extent.offset + 5, &mut back).unwrap();
        assert_eq!(back, [0xCD]);
    }

    #[test]
    fn bases_are_aligned_and_only_the_extent_is_mapped() {
        for alignment in [1, 4096, 64 << 10, 2 << 20, 1 << 30] {
            let (store, _extent, mapping) = mapped(64 << 10, alignment);
            assert_eq!(mapping.address() % alignment, 0);
            let expected = format!("{:x}-{:x} ", mapping.address(), mapping.address() + (64 << 10));
            let lines = maps_of(&store);
            assert!(lines.len() == 1 && lines[0].starts_with(&expected), "{expected}: {lines:?}");
        }
    }

    /// Bytes of this process's address space that nobody may access: reservations, guard pages.
    fn inaccessible_bytes() -> u64 {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let reserved = maps.lines().filter(|line| line.contains(" ---p "));
        let bounds = reserved.filter_map(|line| line.split_once(' ')?.0.split_once('-'));
        bounds
            .map(|(start, end)| [start, end].map(|hex| u64::from_str_radix(hex, 16).unwrap()))
            .map(|[s, e]| e - s)
            .sum()
    }

    #[test]
    fn neither_end_of_the_reservation_stays_behind() {
        // Each reservation has 32 GiB too much, before or behind; other tests reserve far less at the same time.
        let before = inaccessible_bytes();
        let kept: Vec<_> = (0..32).map(|_| mapped(32 << 30, 64 << 30)).collect();
        let left = inaccessible_bytes().saturating_sub(before);
        assert!(left < 128 << 30, "{left}");
        assert!(kept.iter().all(|(_, _, mapping)| mapping.length == 32 << 30));
    }

    #[test]
    fn dropping_unmaps() {
        let (store, _extent, mapping) = mapped(1 << 16, 4096);
        assert_eq!(maps_of(&store).len(), 1);
        drop(mapping);
        assert_eq!(maps_of(&store).len(), 0);
    }

    #[test]
    fn unmapping_again_does_not_touch_what_came_to_lie_there() {
        let (_store, _extent, mut first) = mapped(1 << 16, 4096);
        first.unmap().unwrap();
        // The kernel usually gives the same addresses out again at once.
        let (store, _extent, _second) = mapped(1 << 16, 4096);
        first.unmap().unwrap();
        drop(first);
        assert_eq!(maps_of(&store).len(), 1);
    }

    #[test]
    fn what_the_address_space_cannot_hold_is_an_error() {
        let mut store = PageStore::new().unwrap();
        let page = store.prepare(1).unwrap();
        assert!(Mapping::of_file(store.as_fd(), page, 1 << 63).is_err());
        let huge = Extent { offset: 0, length: u64::MAX - 4095 };
        assert!(Mapping::of_file(store.as_fd(), huge, 2 << 20).is_err());
        assert!(Mapping::of_file(store.as_fd(), Extent { offset: 0, length: 1 << 60 }, 1).is_err());
        assert!(Mapping::of_file(store.as_fd(), Extent { offset: 0, length: 0 }, 1).is_err());
    }

    #[test]
    fn a_part_of_a_reservation_shows_pages_until_it_is_hidden() {
        let mut store = PageStore::new().unwrap();
        let extent = store.prepare(1 << 16).unwrap();
        store.commit(extent);
        let mut reservation = Reservation::new(1 << 20, 1 << 20).unwrap();
        assert_eq!(reservation.address() % (1 << 20), 0);
        reservation.show(1 << 17, store.as_fd(), extent).unwrap();
        let shown = reservation.address() + (1 << 17);
        let expected = format!("{shown:x}-{:x} rw-s", shown + (1 << 16));
        let lines = maps_of(&store);
        assert!(lines.len() == 1 && lines[0].starts_with(&expected), "{expected}: {lines:?}");
        reservation.hide(1 << 17, 1 << 16).unwrap();
        assert_eq!(maps_of(&store).len(), 0);
    }

    #[test]
    fn a_dropped_reservation_shows_nothing_any_more() {
        let mut store = PageStore::new().unwrap();
        let extent = store.prepare(1 << 16).unwrap();
        store.commit(extent);
        let mut reservation = Reservation::new(1 << 20, 4096).unwrap();
        reservation.show(0, store.as_fd(), extent).unwrap();
        drop(reservation);
        assert_eq!(maps_of(&store).len(), 0);
    }

    #[test]
    fn parts_outside_a_reservation_or_between_pages_are_refused() {
        let mut store = PageStore::new().unwrap();
        let extent = store.prepare(1 << 16).unwrap();
        let mut reservation = Reservation::new(1 << 16, 4096).unwrap();
        for offset in [1, 4096, 1 << 16, u64::MAX - 4095] {
            assert!(reservation.show(offset, store.as_fd(), extent).is_err(), "{offset}");
            assert!(reservation.hide(offset, 1 << 16).is_err(), "{offset}");
        }
        assert!(reservation.hide(0, 0).is_err());
        reservation.show(0, store.as_fd(), extent).unwrap();
    }

    #[test]
    fn a_lost_reservation_is_never_touched_again() {
        let (store, _extent, mapping) = mapped(1 << 16, 4096);
        // As if a call had failed and the addresses had become somebody else's.
        let addresses = Mapping { address: mapping.address, length: mapping.length };
        let mut lost = Reservation { addresses, lost: true };
        assert!(lost.show(0, store.as_fd(), Extent { offset: 0, length: 4096 }).is_err());
        lost.hide(0, 1 << 16).unwrap();
        drop(lost);
        assert_eq!(maps_of(&store).len(), 1);
        drop(mapping);
    }
}

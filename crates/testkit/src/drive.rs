//! Does actions to a pool and to the shadow model, and compares the two after each.
//!
//! For use by one thread on a pool that nobody else uses; [`crate::event_log`] is for racing threads.

use std::fmt;
use std::sync::Arc;

use mempool_core::{
    Alignment, AllocError, ArenaKind, Bytes, DeviceAddress, FreeError, MAX_ALIGNMENT, Pool, VirtualMemory,
};

use crate::actions::{Action, WrongFree};
use crate::contents::{self, DeviceBytes};
use crate::shadow::{LiveBlock, PAGE, Pick, Shadow};
use crate::violation::{Violation, ensure};

/// Largest block that a slab serves.
const SMALL: Bytes = Bytes::kib(32);

/// A pool and its shadow.
#[derive(Debug)]
pub struct Driver {
    pool: Pool,
    shadow: Shadow,
    bytes: Option<Arc<dyn DeviceBytes>>,
    last_freed: Option<DeviceAddress>,
    /// A walk over everything comes after this many steps.
    walk_every: u32,
    steps: u32,
    tally: Tally,
}

/// What a run did, so that a test can see that it tried what it meant to try.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Blocks allocated.
    pub allocated: u64,
    /// Requests for which nothing was left.
    pub out_of_memory: u64,
    /// Requests that are refused without looking.
    pub impossible: u64,
    /// Frees that were refused.
    pub refused: u64,
    /// Most blocks live at a time.
    pub most_live: usize,
}

impl Driver {
    /// Drives a new `pool` and walks over everything after each step.
    pub fn new(pool: Pool) -> Self {
        let shadow = Shadow::new(pool.device().properties());
        Self { pool, shadow, bytes: None, last_freed: None, walk_every: 1, steps: 0, tally: Tally::default() }
    }

    /// Writes and checks a pattern at both ends of every block.
    #[must_use]
    pub fn with_bytes(mut self, bytes: Arc<dyn DeviceBytes>) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Walks over everything after every so many steps only. Sums are compared after each step all the same.
    #[must_use]
    pub fn walking_every(mut self, steps: u32) -> Self {
        self.walk_every = steps.max(1);
        self
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// What must be live.
    pub fn shadow(&self) -> &Shadow {
        &self.shadow
    }

    /// Does all actions and then [`Self::finish`]es.
    ///
    /// # Errors
    ///
    /// The first [`Violation`], with the number of its action and the action.
    pub fn run(mut self, actions: impl IntoIterator<Item = Action>) -> Result<Tally, Violation> {
        for (number, action) in actions.into_iter().enumerate() {
            self.step(&action)
                .map_err(|violation| violation.at(format_args!("action {number}, {action:?}")))?;
        }
        self.finish()
    }

    /// Does one action and compares.
    ///
    /// # Errors
    ///
    /// The first [`Violation`].
    pub fn step(&mut self, action: &Action) -> Result<(), Violation> {
        match *action {
            Action::Allocate { bytes, alignment } => self.allocate(bytes, alignment)?,
            Action::Free(pick) => self.free(pick, false)?,
            Action::FreeSized(pick) => self.free(pick, true)?,
            Action::FreeWrong(wrong) => self.free_wrong(wrong)?,
            Action::Trim => self.trim()?,
            Action::Status => {
                ensure!(!self.pool.status().to_string().is_empty(), "status", "it says nothing");
            }
        }
        self.tally.most_live = self.tally.most_live.max(self.shadow.len());
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(self.walk_every) {
            self.walk()
        } else {
            self.shadow.check_status(&self.pool.status())
        }
    }

    /// Walks over everything.
    ///
    /// # Errors
    ///
    /// The first [`Violation`].
    pub fn walk(&self) -> Result<(), Violation> {
        self.pool.validate().map_err(|error| Violation::new("validate", error.to_string()))?;
        self.shadow.check_report(&self.pool.report())
    }

    /// Checks the bytes of all live blocks, frees them, trims, and checks that nothing is left.
    ///
    /// # Errors
    ///
    /// The first [`Violation`].
    pub fn finish(mut self) -> Result<Tally, Violation> {
        self.walk()?;
        if let Some(bytes) = &self.bytes {
            self.shadow.blocks().try_for_each(|block| contents::check(&**bytes, block))?;
        }
        while !self.shadow.is_empty() {
            self.free(Pick::Oldest, false)?;
        }
        self.walk()?;
        let status = self.pool.status();
        ensure!(status.used.is_zero() && status.blocks == 0, "end", "something is live: {status:?}");
        self.trim()?;
        self.walk()?;
        let total = self.pool.status().total;
        ensure!(total.is_zero(), "end", "{total} stay after a trim with nothing live");
        Ok(self.tally)
    }

    fn allocate(&mut self, bytes: Bytes, alignment: Alignment) -> Result<(), Violation> {
        match self.pool.allocate_raw(bytes, alignment) {
            Ok(raw) => {
                ensure!(
                    !bytes.is_zero() && alignment <= MAX_ALIGNMENT,
                    "request",
                    "an impossible one was served"
                );
                let block = self.shadow.insert(raw, bytes, alignment)?;
                let found = self.pool.block_at(block.address);
                ensure!(found.as_ref() == Ok(&raw), "look-up", "{block} is found as {found:?}");
                if let Some(bytes) = &self.bytes {
                    contents::mark(&**bytes, &block)?;
                }
                self.tally.allocated += 1;
                Ok(())
            }
            Err(error) => {
                self.shadow.note_failure();
                self.check_failure(bytes, alignment, &error)
            }
        }
    }

    /// I5: a request fails only when neither what is free nor growth could serve it. Asking again tells, too: a pool that could
    /// serve the second time could have served the first time.
    fn check_failure(
        &mut self,
        bytes: Bytes,
        alignment: Alignment,
        error: &AllocError,
    ) -> Result<(), Violation> {
        let limit = self.pool.config().max_size().unwrap_or(Bytes::MAX);
        match error {
            AllocError::ZeroSize => ensure!(bytes.is_zero(), "error", "{error:?} for {bytes}"),
            AllocError::AlignmentTooLarge { .. } => {
                ensure!(alignment > MAX_ALIGNMENT, "error", "{error:?} for {alignment}");
            }
            AllocError::TooLarge { .. } => {
                let occupied = self.shadow.occupied(bytes).unwrap_or(Bytes::MAX);
                ensure!(occupied > limit || occupied >= Bytes::gib(4096), "error", "{error:?} for {bytes}");
            }
            AllocError::OutOfMemory(details) => {
                self.tally.out_of_memory += 1;
                ensure!(details.requested == bytes, "error", "{details:?} for {bytes}");
                ensure!(details.alignment == alignment, "error", "{details:?} for {alignment}");
                self.check_that_nothing_serves(bytes, alignment)?;
                let again = self.pool.allocate_raw(bytes, alignment);
                ensure!(again.is_err(), "I5", "{bytes} at {alignment} failed, and then was served: {error}");
                self.shadow.note_failure();
                return Ok(());
            }
            AllocError::Device { .. } | AllocError::UnusableArena { .. } | _ => {
                return Err(Violation::new("error", format!("the device is well, but {error:?}")));
            }
        }
        self.tally.impossible += 1;
        Ok(())
    }

    fn check_that_nothing_serves(&self, bytes: Bytes, alignment: Alignment) -> Result<(), Violation> {
        let properties = self.pool.device().properties();
        let alignment = self.shadow.alignment(alignment);
        let occupied = self.shadow.occupied(bytes).unwrap_or(Bytes::MAX);
        // The class of a small block is at most an eighth larger.
        let class = if occupied <= SMALL {
            occupied.saturating_add(Bytes::new(occupied.get() / 8 + 512))
        } else {
            occupied
        };
        let pages = class.round_up_to(PAGE).unwrap_or(Bytes::MAX);
        let status = self.pool.status();
        let skipped =
            if alignment.bytes() > PAGE { alignment.bytes().saturating_sub(PAGE) } else { Bytes::ZERO };
        let hole = pages.saturating_add(skipped);
        ensure!(status.largest_free < hole, "I5", "{bytes} at {alignment} failed beside a hole: {status:?}");
        let base = properties.arena_alignment.bytes();
        let lost = if base < PAGE { PAGE } else { Bytes::ZERO };
        let skipped = alignment.bytes().saturating_sub(base).saturating_add(lost);
        let granule = match self.pool.config().arena_kind() {
            ArenaKind::Virtual => self.pool.device().virtual_memory().map(VirtualMemory::granule),
            ArenaKind::Plain => None,
        };
        let arena = match granule {
            // Addresses there are enough, so alignment costs no memory.
            Some(granule) => pages.round_up_to(granule),
            None => pages.saturating_add(skipped).round_up_to(properties.arena_granularity),
        };
        let arena = arena.unwrap_or(Bytes::MAX);
        let limit = status.limit.unwrap_or(Bytes::MAX);
        let device_free = self.pool.device().memory_info().map_or(Bytes::ZERO, |info| info.free);
        let grows = status.total.saturating_add(arena) <= limit && arena <= device_free;
        ensure!(!grows, "I5", "{bytes} at {alignment} failed, growth by {arena} was possible: {status:?}");
        Ok(())
    }

    fn free(&mut self, pick: Pick, sized: bool) -> Result<(), Violation> {
        let Some(&block) = self.shadow.pick(pick) else { return Ok(()) };
        if let Some(bytes) = &self.bytes {
            contents::check(&**bytes, &block)?;
        }
        let LiveBlock { address, requested, .. } = block;
        let freed = if sized { self.pool.free_sized(address, requested) } else { self.pool.free(address) };
        let bytes = freed.map_err(|error| Violation::new("free", format!("{block} was refused: {error}")))?;
        self.shadow.remove(address, bytes)?;
        self.last_freed = Some(address);
        Ok(())
    }

    fn free_wrong(&mut self, wrong: WrongFree) -> Result<(), Violation> {
        let address = match wrong {
            WrongFree::WrongSize(pick) => return self.free_with_wrong_size(pick),
            WrongFree::Interior(pick, offset) => self
                .shadow
                .pick(pick)
                .map(|block| DeviceAddress::new(block.address.get() + 1 + offset % (block.bytes.get() - 1))),
            WrongFree::Again => self.last_freed.filter(|address| {
                self.shadow.block_around(*address).is_none_or(|block| block.address != *address)
            }),
            // Below all arenas, or above all.
            WrongFree::Foreign(number) if number % 2 == 0 => Some(DeviceAddress::new(number % PAGE.get())),
            WrongFree::Foreign(number) => Some(DeviceAddress::new(number | 1 << 63)),
        };
        let Some(address) = address else { return Ok(()) };
        let report = self.pool.report();
        let found = self.pool.block_at(address);
        self.refused(self.pool.free(address), address, |shadow, error| {
            shadow.check_refusal(address, error, &report)?;
            // Whose a foreign address is may change between two questions: other tests have pools, too.
            let foreign = |error: &FreeError| {
                matches!(
                    error,
                    FreeError::Foreign { .. } | FreeError::Stale { .. } | FreeError::WrongPool { .. }
                )
            };
            let same = found.as_ref().is_err_and(|found| found == error || foreign(found) && foreign(error));
            ensure!(same, "look-up", "{address} is found as {found:?}, freed as {error:?}");
            Ok(())
        })
    }

    fn free_with_wrong_size(&mut self, pick: Pick) -> Result<(), Violation> {
        let Some(&block) = self.shadow.pick(pick) else { return Ok(()) };
        let LiveBlock { address, requested, .. } = block;
        let given = Bytes::new(requested.get() + 1);
        self.refused(self.pool.free_sized(address, given), address, |_, error| {
            let expected = FreeError::SizeMismatch { address, given, requested };
            ensure!(*error == expected, "refusal", "{error:?} instead of {expected:?}");
            Ok(())
        })
    }

    fn refused(
        &mut self,
        result: Result<Bytes, FreeError>,
        what: impl fmt::Display,
        check: impl FnOnce(&Shadow, &FreeError) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        let Err(error) = result else {
            return Err(Violation::new("refusal", format!("{what} was freed and should not have been")));
        };
        self.shadow.note_refused_free();
        self.tally.refused += 1;
        check(&self.shadow, &error)
    }

    fn trim(&mut self) -> Result<(), Violation> {
        let before = self.pool.status();
        let released = self.pool.trim().map_err(|error| Violation::new("trim", error.to_string()))?;
        let after = self.pool.status();
        ensure!(
            after.total.saturating_add(released) == before.total && after.used == before.used,
            "trim",
            "{released} were released: {before:?}, {after:?}"
        );
        let idle = self.pool.report().arenas.iter().filter(|arena| arena.live_blocks == 0).count();
        ensure!(idle == 0, "trim", "{idle} arenas with nothing live stay");
        Ok(())
    }
}

//! Freeing by address alone, and looking a block up.

use super::state::State;
use super::{Inner, Pool, registry, waits};
use crate::error::FreeError;
use crate::event::EventKind;
use crate::handle::RawAllocation;
use crate::heap::FreedBlock;
use crate::order::StreamId;
use crate::units::{Bytes, DeviceAddress};

impl Pool {
    /// Frees the block that starts at `address` and says how many bytes it occupied. Any thread may free any block.
    ///
    /// In a pool with streams the block comes after all that any of them has been given, and serves again when they have passed that; use
    /// [`Pool::free_on`] to free it in the order of one.
    ///
    /// An address alone cannot tell a block from a later one at the same place: freeing an address that was freed and handed out
    /// again frees the new block. [`Allocation`](crate::Allocation) makes that impossible.
    ///
    /// # Errors
    ///
    /// [`FreeError`] when no live block of this pool starts there: freed twice, inside a block, another pool's, nobody's. The pool
    /// is as it was.
    ///
    /// # Complexity
    ///
    /// O(1); O(blocks of an arena) to say what is wrong with a wrong address.
    pub fn free(&self, address: DeviceAddress) -> Result<Bytes, FreeError> {
        self.inner.free(address, None, None)
    }

    /// Frees the block that starts at `address`, which the caller believes to have been allocated with `requested` bytes.
    ///
    /// # Errors
    ///
    /// As [`Pool::free`], and [`FreeError::SizeMismatch`] when it was allocated with another size; it stays allocated then.
    pub fn free_sized(&self, address: DeviceAddress, requested: Bytes) -> Result<Bytes, FreeError> {
        self.inner.free(address, Some(requested), None)
    }

    /// The live block that starts at `address`.
    ///
    /// # Errors
    ///
    /// As [`Pool::free`].
    pub fn block_at(&self, address: DeviceAddress) -> Result<RawAllocation, FreeError> {
        let state = self.inner.state.lock();
        match state.heap.live_block(address) {
            Ok(block) => Ok(RawAllocation { address, requested: block.requested, bytes: block.bytes }),
            Err(error) => {
                let released = state.was_released(address);
                drop(state);
                Err(self.inner.name_owner(error, released))
            }
        }
    }
}

impl Inner {
    pub(super) fn free(
        &self,
        address: DeviceAddress,
        given: Option<Bytes>,
        stream: Option<StreamId>,
    ) -> Result<Bytes, FreeError> {
        let mut state = self.state.lock();
        match self.free_locked(&mut state, address, given, stream) {
            Ok(FreedBlock { bytes, requested }) => {
                state.counters.frees += 1;
                let sequence = state.next_sequence();
                let slot = stream.and_then(|stream| state.heap.streams.slot_of(stream));
                let closed = slot.and_then(|slot| waits::due(&mut state, slot));
                drop(state);
                self.tell(sequence, || EventKind::Freed { address, requested, bytes });
                if let Some(closed) = closed {
                    self.follow_frees(closed);
                }
                Ok(bytes)
            }
            Err(error) => {
                state.counters.refused_frees += 1;
                let sequence = state.next_sequence();
                let released = state.was_released(address);
                drop(state);
                let error = self.name_owner(error, released);
                tracing::debug!(pool = %self.name, %error, "refused a free");
                self.tell(sequence, || EventKind::FreeRefused { error: error.clone() });
                Err(error)
            }
        }
    }

    #[inline]
    fn free_locked(
        &self,
        state: &mut State,
        address: DeviceAddress,
        given: Option<Bytes>,
        stream: Option<StreamId>,
    ) -> Result<FreedBlock, FreeError> {
        if let Some(given) = given {
            let block = state.heap.live_block(address)?;
            if block.requested != given {
                return Err(FreeError::SizeMismatch { address, given, requested: block.requested });
            }
        }
        if let Some(stream) = stream
            && stream.pool() != self.id
        {
            return Err(FreeError::WrongStream { address, stream });
        }
        if !state.heap.streams.any() {
            return state.heap.free(address);
        }
        let uses = if state.uses.is_empty() { None } else { state.uses.remove(&address) };
        let stamps = state.stamps_of_free(stream, uses.as_deref().unwrap_or_default());
        let freed = state.heap.free_ordered(address, stamps);
        if freed.is_err()
            && let Some(uses) = uses
        {
            state.uses.insert(address, uses);
        }
        freed
    }

    /// Records an event behind many frees, and sees what has passed of earlier ones.
    #[cold]
    fn follow_frees(&self, closed: waits::Closed) {
        if let Err(error) = self.record(closed) {
            tracing::debug!(pool = %self.name, %error, "could not record an event; the next one covers its frees");
        }
        if self.config.stream_reuse().opportunistic {
            self.reap();
        }
    }

    /// Says of an address that is not ours whose it is, if that is known.
    fn name_owner(&self, error: FreeError, released: bool) -> FreeError {
        let FreeError::Foreign { address } = error else { return error };
        match registry::owner_of(address, self.id) {
            Some(owner) => FreeError::WrongPool { address, owner },
            None if released => FreeError::Stale { address },
            None => error,
        }
    }
}

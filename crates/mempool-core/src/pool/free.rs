//! Freeing by address alone, and looking a block up.

use super::{Inner, Pool, registry};
use crate::error::FreeError;
use crate::event::EventKind;
use crate::handle::RawAllocation;
use crate::heap::FreedBlock;
use crate::units::{Bytes, DeviceAddress};

impl Pool {
    /// Frees the block that starts at `address` and says how many bytes it occupied. Any thread may free any block.
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
        self.inner.free(address, None)
    }

    /// Frees the block that starts at `address`, which the caller believes to have been allocated with `requested` bytes.
    ///
    /// # Errors
    ///
    /// As [`Pool::free`], and [`FreeError::SizeMismatch`] when it was allocated with another size; it stays allocated then.
    pub fn free_sized(&self, address: DeviceAddress, requested: Bytes) -> Result<Bytes, FreeError> {
        self.inner.free(address, Some(requested))
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
    fn free(&self, address: DeviceAddress, given: Option<Bytes>) -> Result<Bytes, FreeError> {
        let mut state = self.state.lock();
        let freed = match given {
            None => state.heap.free(address),
            Some(given) => match state.heap.live_block(address) {
                Ok(block) if block.requested != given => {
                    Err(FreeError::SizeMismatch { address, given, requested: block.requested })
                }
                Ok(_) => state.heap.free(address),
                Err(error) => Err(error),
            },
        };
        match freed {
            Ok(FreedBlock { bytes, requested }) => {
                state.counters.frees += 1;
                let sequence = state.next_sequence();
                drop(state);
                self.tell(sequence, || EventKind::Freed { address, requested, bytes });
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

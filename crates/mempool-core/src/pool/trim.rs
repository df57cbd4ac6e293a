//! Giving empty arenas back to the device.

use std::convert::Infallible;

use super::state::Arena;
use super::{Inner, Pool, registry};
use crate::device::DeviceError;
use crate::error::TrimError;
use crate::event::EventKind;
use crate::units::Bytes;

/// What a pass over the empty arenas did.
pub(super) struct Released {
    pub(super) released: Bytes,
    kept: Vec<(Arena, DeviceError)>,
}

impl Pool {
    /// Gives all arenas in which nothing is live back to the device and says how many bytes that were.
    ///
    /// # Errors
    ///
    /// [`TrimError`] when the device refused some. They stay in the pool; the others are gone.
    ///
    /// # Complexity
    ///
    /// O(pages of the empty arenas) under the lock, and a call of the device for each without it.
    pub fn trim(&self) -> Result<Bytes, TrimError> {
        let turn = self.inner.take_turn(|_| None::<Infallible>);
        let Released { released, mut kept } = self.inner.release_idle_arenas();
        drop(turn);
        let count = kept.len();
        if count == 0 {
            return Ok(released);
        }
        let (arena, source) = kept.swap_remove(0);
        Err(TrimError { released, kept: count, base: arena.base, bytes: arena.bytes, source })
    }
}

impl Inner {
    /// Gives the empty arenas back. The caller has the turn.
    pub(super) fn release_idle_arenas(&self) -> Released {
        let idle = self.state.lock().take_idle_arenas();
        let span = tracing::debug_span!("release_idle_arenas", pool = %self.name, arenas = idle.len());
        let _entered = span.enter();
        let mut done = Released { released: Bytes::ZERO, kept: Vec::new() };
        for arena in idle {
            registry::remove(arena.base, self.id);
            match self.device.free_arena(arena.base, arena.bytes) {
                Ok(()) => {
                    let mut state = self.state.lock();
                    state.forget_arena(arena);
                    state.counters.trims += 1;
                    let sequence = state.next_sequence();
                    drop(state);
                    done.released = done.released.saturating_add(arena.bytes);
                    self.tell(sequence, || EventKind::Trimmed { base: arena.base, bytes: arena.bytes });
                }
                Err(error) => {
                    self.put_back(arena);
                    done.kept.push((arena, error));
                }
            }
        }
        done
    }

    /// Takes an arena that the device refused back into the heap.
    fn put_back(&self, arena: Arena) {
        let mut state = self.state.lock();
        match state.heap.add_arena(arena.base, arena.bytes) {
            Ok(()) => {
                state.insert_arena(arena);
                registry::add(arena.base, arena.bytes, self.id, &self.name);
            }
            // Only if the device handed the same addresses out again while it says that they are not free.
            Err(error) => tracing::error!(pool = %self.name, base = %arena.base, %error, "lost an arena"),
        }
    }
}

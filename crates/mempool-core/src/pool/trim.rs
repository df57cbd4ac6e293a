//! Giving empty arenas back to the device.

use std::convert::Infallible;

use super::state::Arena;
use super::{Inner, Pool, registry};
use crate::device::DeviceError;
use crate::error::TrimError;
use crate::event::EventKind;
use crate::units::{Bytes, DeviceAddress};

/// What a pass over the empty arenas did.
#[derive(Debug, Default)]
pub(super) struct Released {
    pub(super) released: Bytes,
    /// What could not be given back: arenas, or granules of virtual ones.
    pub(super) kept: Vec<(Arena, DeviceError)>,
}

impl Pool {
    /// Gives all arenas in which nothing is live back to the device and says how many bytes of memory that were. Waits for all streams
    /// first, since the device does not wait when it frees.
    ///
    /// Of virtual arenas, all granules in which nothing is live go back, and their addresses when no memory is left in them.
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
        let synchronized = self.inner.synchronize_all();
        let Released { released, mut kept } = self.inner.release_idle_arenas();
        drop(turn);
        if let Err(error) = synchronized {
            tracing::warn!(pool = %self.inner.name, %error, "could not wait for all streams; their arenas stay");
        }
        let count = kept.len();
        if count == 0 {
            return Ok(released);
        }
        let (arena, source) = kept.swap_remove(0);
        Err(TrimError { released, kept: count, base: arena.base, bytes: arena.bytes, source })
    }
}

impl Inner {
    /// Gives the empty arenas back, one by one. The caller has the turn.
    pub(super) fn release_idle_arenas(&self) -> Released {
        let span = tracing::debug_span!("release_idle_arenas", pool = %self.name);
        let _entered = span.enter();
        let mut done = Released::default();
        let mapper = self.mapper();
        if let Some(mapper) = &mapper {
            mapper.release_spares(&mut done);
            mapper.release_granules(&mut done);
        }
        let mut after = None;
        while let Some(leaving) = self.take_idle_arena(after) {
            let arena = leaving.arena;
            after = Some(arena.base);
            let returned = match &mapper {
                Some(mapper) => mapper.free_reservation(arena),
                None => self.device.free_arena(arena.base, arena.bytes),
            };
            match returned {
                Ok(()) => {
                    self.note_trimmed(leaving);
                    if mapper.is_none() {
                        done.released = done.released.saturating_add(arena.bytes);
                    }
                }
                Err(error) => done.kept.push((arena, error)),
            }
        }
        done
    }

    fn take_idle_arena(&self, after: Option<DeviceAddress>) -> Option<Leaving<'_>> {
        let arena = self.state.lock().take_idle_arena(after)?;
        registry::remove(arena.base, self.id);
        Some(Leaving { inner: self, arena, is_gone: false })
    }

    fn note_trimmed(&self, mut leaving: Leaving<'_>) {
        leaving.is_gone = true;
        let arena = leaving.arena;
        let sequence = {
            let mut state = self.state.lock();
            state.forget_arena(arena);
            state.counters.trims += 1;
            state.next_sequence()
        };
        self.tell(sequence, || EventKind::Trimmed { base: arena.base, bytes: arena.bytes });
    }
}

/// An arena that was taken out of the heap to go back to the device. Comes back into the heap when this is dropped, because the device
/// refused it or panicked, unless it is gone.
struct Leaving<'a> {
    inner: &'a Inner,
    arena: Arena,
    is_gone: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.is_gone {
            return;
        }
        let Self { inner, arena, .. } = self;
        let mut state = inner.state.lock();
        if let Err(error) = inner.hold(&mut state, *arena) {
            // Only if the device handed the same addresses out again while it says that they are not free.
            tracing::error!(pool = %inner.name, base = %arena.base, %error, "lost an arena");
        }
    }
}

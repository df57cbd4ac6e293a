//! Turns: one thread at a time changes which arenas the pool has, without holding the lock while it asks the device.
//!
//! An arena on its way from or to the device counts towards the limit but serves nobody. A thread that finds nothing free meanwhile
//! must wait for the outcome instead of failing, or of growing the pool too: so it waits for the turn to end.

use super::Inner;
use super::state::State;
use crate::sync::thread;

/// The right to add and remove arenas, until this is dropped. A thread may take a turn inside its own, which happens when a device
/// calls back into the pool.
pub(super) struct Turn<'a> {
    inner: &'a Inner,
    outer: Option<thread::ThreadId>,
}

impl Inner {
    /// Waits for the turn, trying `serve` first and after each wait, for another thread may have brought what is needed: then there is
    /// no turn, but what `serve` gave.
    pub(super) fn take_turn<T>(&self, mut serve: impl FnMut(&mut State) -> Option<T>) -> Result<Turn<'_>, T> {
        let me = thread::current().id();
        let mut state = self.state.lock();
        loop {
            if let Some(served) = serve(&mut state) {
                return Err(served);
            }
            if state.turn.is_none_or(|thread| thread == me) {
                break;
            }
            self.turn_ended.wait(&mut state);
        }
        let outer = state.turn.replace(me);
        drop(state);
        Ok(Turn { inner: self, outer })
    }
}

impl Drop for Turn<'_> {
    /// Also when a device panics: nobody is left waiting.
    fn drop(&mut self) {
        self.inner.state.lock().turn = self.outer;
        self.inner.turn_ended.notify_all();
    }
}

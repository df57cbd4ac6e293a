//! The ledger of blocks as a pool's test drives it.

use crate::engine::ledger::{BlockStreams, Deed};
use crate::engine::{Engine, EngineError, StreamId};
use crate::identity::Site;

/// The block ledger: a race detector for pools that hand parts of a device's memory out.
///
/// A test tells the engine what the pool does: [`declare_block`](Self::declare_block) when an allocation is handed out,
/// [`allow_on_block`](Self::allow_on_block) when it is to be used on another stream too, and
/// [`retire_block`](Self::retire_block) when it is freed. The engine then reports, whatever the timing of one run,
///
/// * a block handed out while operations of the former owner are pending that nothing orders before it,
/// * an operation on a stream for which its block was not declared,
/// * an operation on a block that is not ordered after the former owner's, and one on a retired block,
/// * a block handed out that somebody holds.
///
/// Ordered are operations of one stream, and those that events order, also by way of other streams. Memory for which
/// no block was ever declared is not watched.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use host_device::engine::{Engine, HazardKind, Operation, StreamOptions};
/// use host_device::{HostDevice, HostDeviceConfig};
///
/// let device = Arc::new(HostDevice::new(HostDeviceConfig::new(64 << 20))?);
/// let arena = device.allocate(2 << 20)?;
/// let engine = Engine::new(device)?;
/// let [a, b] = [(); 2].map(|()| engine.create_stream(StreamOptions::default()));
///
/// engine.declare_block(arena, 512, a, "first model")?;
/// engine.enqueue(a, Operation::kernel("matmul", Duration::from_millis(1)).writing(arena, 512))?;
/// engine.retire_block(arena, 512, "first model done")?;
///
/// // The pool hands the block to stream b, but has not made b wait for a.
/// engine.declare_block(arena, 512, b, "second model")?;
/// assert_eq!(engine.take_hazards()[0].kind, HazardKind::HandedOutEarly);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Engine {
    /// Tells that `size` bytes at `base` were handed out, for use on `streams`.
    ///
    /// # Errors
    ///
    /// [`EngineError::InvalidBlock`]. What the pool did wrong is no error but a [`Hazard`](crate::engine::Hazard).
    pub fn declare_block(
        &self,
        base: u64,
        size: u64,
        streams: impl Into<BlockStreams>,
        origin: impl Into<Site>,
    ) -> Result<(), EngineError> {
        if size == 0 || base.checked_add(size).is_none() {
            return Err(EngineError::InvalidBlock { base, size });
        }
        let shared = self.shared();
        let memory = shared.device.state.read().identities(base, 1).0.into_iter().next();
        let mut guard = shared.core.lock();
        let core = &mut *guard;
        let user = shared.device.place(origin.into());
        let deed = Deed { base, size, user };
        let hazards = core.ledger.declare(&deed, streams.into(), memory, &core.streams);
        drop(guard);
        shared.hazards.add(hazards);
        Ok(())
    }

    /// Tells that the block at `base` is to be used on `stream` too.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownBlock`], with size 0, when no declared block starts there.
    pub fn allow_on_block(&self, base: u64, stream: StreamId) -> Result<(), EngineError> {
        let mut core = self.shared().core.lock();
        if core.ledger.allow(base, stream) {
            Ok(())
        } else {
            Err(EngineError::UnknownBlock { base, size: 0 })
        }
    }

    /// Tells that the block of `size` bytes at `base` was freed. What was enqueued on it may still be pending.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownBlock`] unless just this block is declared.
    pub fn retire_block(&self, base: u64, size: u64, origin: impl Into<Site>) -> Result<(), EngineError> {
        let shared = self.shared();
        let mut guard = shared.core.lock();
        let core = &mut *guard;
        let user = shared.device.place(origin.into());
        let known = core.ledger.retire(&Deed { base, size, user }, &core.streams);
        if known { Ok(()) } else { Err(EngineError::UnknownBlock { base, size }) }
    }

    /// Number of blocks that were declared and not retired.
    pub fn live_blocks(&self) -> usize {
        self.shared().core.lock().ledger.len()
    }
}

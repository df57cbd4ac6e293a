//! What a caller holds: an [`Allocation`] that frees itself, or a [`RawAllocation`] that is only numbers.

use std::fmt;

use crate::error::{FreeError, StreamError};
use crate::order::StreamId;
use crate::pool::Pool;
use crate::units::{Bytes, DeviceAddress};

/// A live block as plain numbers, for callers that free by address alone. Dropping it does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the block stays allocated until its address is given to Pool::free"]
#[non_exhaustive]
pub struct RawAllocation {
    /// First byte.
    pub address: DeviceAddress,
    /// Bytes that were asked for.
    pub requested: Bytes,
    /// Bytes that the block occupies, with padding and rounding; all of them may be used.
    pub bytes: Bytes,
}

/// A live block that is freed when this is dropped. It keeps its pool alive.
///
/// Never cloned and never freed by hand, so that a block can be neither freed twice nor used after its free. A thread other
/// than the one that allocated may drop it.
///
/// ```
/// # use std::sync::Arc;
/// use mempool_core::{AddressDevice, Bytes, Pool, PoolConfig};
/// let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), PoolConfig::default())?;
/// let block = pool.allocate(Bytes::mib(3))?;
/// assert_eq!(pool.status().used, Bytes::mib(3));
/// drop(pool); // the block keeps the pool alive
/// drop(block);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the block is freed when this is dropped"]
pub struct Allocation {
    /// `None` only after [`Allocation::into_raw`].
    pool: Option<Pool>,
    raw: RawAllocation,
    /// The stream on which it is freed.
    stream: Option<StreamId>,
}

impl Allocation {
    pub(crate) fn new(pool: Pool, raw: RawAllocation) -> Self {
        Self { pool: Some(pool), raw, stream: None }
    }

    pub(crate) fn on_stream(pool: Pool, raw: RawAllocation, stream: StreamId) -> Self {
        Self { pool: Some(pool), raw, stream: Some(stream) }
    }

    /// First byte.
    pub const fn address(&self) -> DeviceAddress {
        self.raw.address
    }

    /// Bytes that were asked for.
    pub const fn requested(&self) -> Bytes {
        self.raw.requested
    }

    /// Bytes that the block occupies, with padding and rounding; all of them may be used.
    pub const fn bytes(&self) -> Bytes {
        self.raw.bytes
    }

    /// The stream on which the block will be freed: the one that it was allocated on.
    pub const fn stream(&self) -> Option<StreamId> {
        self.stream
    }

    /// Tells that the block is used on another stream too, as [`Pool::record_use`].
    ///
    /// # Errors
    ///
    /// As [`Pool::record_use`].
    pub fn record_use(&self, stream: StreamId) -> Result<(), StreamError> {
        self.pool.as_ref().map_or(Ok(()), |pool| pool.record_use(self.raw.address, stream))
    }

    /// Frees the block on `stream` instead of the one that it was allocated on.
    ///
    /// # Errors
    ///
    /// [`FreeError::WrongStream`], with the block freed as by a drop.
    pub fn free_on(mut self, stream: StreamId) -> Result<Bytes, FreeError> {
        let Some(pool) = self.pool.take() else { return Ok(Bytes::ZERO) };
        match pool.free_on(self.raw.address, stream) {
            Err(error @ FreeError::WrongStream { .. }) => {
                self.pool = Some(pool);
                Err(error)
            }
            freed => freed,
        }
    }

    /// Gives up ownership: the block stays live until its address is given to [`Pool::free`].
    pub fn into_raw(mut self) -> RawAllocation {
        self.pool = None;
        self.raw
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool
            && let Err(error) = match self.stream {
                Some(stream) => pool.free_on(self.raw.address, stream),
                None => pool.free(self.raw.address),
            }
        {
            // Only possible when somebody freed the address by hand; that pool counts it as a refused free.
            tracing::error!(%error, "an allocation could not free its block");
        }
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Allocation").field(&self.raw).finish()
    }
}

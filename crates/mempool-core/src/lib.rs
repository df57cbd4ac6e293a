//! A device-memory pool that knows nothing of the device: arenas, blocks, buckets, two fit policies, growth and trim.
//!
//! ```
//! use std::sync::Arc;
//! use mempool_core::{AddressDevice, Bytes, FitPolicy, Pool, PoolConfig};
//!
//! // Any `Device` will do: host memory for tests, an Ascend NPU in earnest. This one only has addresses.
//! let device = Arc::new(AddressDevice::new(Bytes::gib(32)));
//! let config = PoolConfig::builder().policy(FitPolicy::BestFit).max_size(Bytes::gib(8)).build()?;
//! let pool = Pool::new(device, config)?;
//!
//! let activations = pool.allocate(Bytes::mib(49))?;
//! let logits = pool.allocate(Bytes::new(4_000))?;
//! assert_eq!(pool.status().blocks, 2);
//! drop((activations, logits));
//! assert!(pool.status().used.is_zero());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layers
//!
//! * [`heap`]: addresses cut into blocks; no device, lock or clock. Usable alone.
//! * `order`: which work may still touch freed memory; streams, epochs, stamps.
//! * [`Pool`]: a heap, a [`Device`] and a lock; grows and trims; typed errors; [`Recorder`].
//! * [`PoolConfig`] and [`environment`]: what a pool can be told.
//!
//! # Contract with the neighbours
//!
//! The core does arithmetic on addresses and never touches what they stand for. It has no `unsafe`, no I/O, no clock and no thread of
//! its own. It checks everything that can be foreseen, so a [`Device`] reports only what cannot.
//!
//! # Limits
//!
//! One lock a pool. A pool without streams reuses every block as soon as it is freed; [`Pool::add_stream`] and the functions that
//! name a stream keep the order of device work. A pool holds at most 4 TiB, at addresses below 2^48.

#![forbid(unsafe_code)]

mod address_device;
mod config;
mod device;
pub mod environment;
mod error;
mod event;
mod handle;
pub mod heap;
mod order;
mod pool;
mod size_class;
mod status;
mod sync;
mod units;

pub use address_device::AddressDevice;
pub use config::{
    ArenaKind, ConfigError, DEFAULT_ARENA_SIZE, FitPolicy, ParseArenaKindError, ParseFitPolicyError,
    PoolConfig, PoolConfigBuilder, StreamReuse,
};
pub use device::{
    Device, DeviceError, DeviceEvent, DeviceProperties, DeviceStream, MemoryInfo, PhysicalMemory,
    StreamOrder, TailPadding, VirtualMemory,
};
pub use error::{AllocError, CreateError, FreeError, OutOfMemory, Shortage, StreamError, TrimError};
pub use event::{Event, EventKind, PoolId, Recorder};
pub use handle::{Allocation, RawAllocation};
pub use order::{StreamId, StreamMark};
pub use pool::{MAX_ALIGNMENT, MAX_POOL_SIZE, Pool};
pub use status::{ArenaReport, BucketReport, Counters, PoolReport, PoolStatus};
pub use units::{Alignment, AlignmentError, Bytes, DeviceAddress, ParseBytesError};

//! [`mempool_core::Device`] for Ascend NPUs, over `ascend-acl`.
//!
//! ```
//! use std::sync::Arc;
//! use backend_ascend::{AscendBackend, AscendOptions, OpenError};
//! use mempool_core::{Bytes, Pool, PoolConfig};
//!
//! fn weights() -> Result<Bytes, Box<dyn std::error::Error>> {
//!     let card = Arc::new(AscendBackend::open(0, AscendOptions::default())?);
//!     let pool = Pool::new(card, PoolConfig::default())?;
//!     Ok(pool.allocate(Bytes::mib(98))?.bytes())
//! }
//!
//! match weights() {
//!     Ok(bytes) => println!("a block of {bytes} on the card"),
//!     // Without CANN an ordinary error, which says where a library was looked for and what to do.
//!     Err(error) => assert!(error.downcast_ref::<OpenError>().is_some(), "{error}"),
//! }
//! ```
//!
//! # What it offers
//!
//! * **Arenas** by aclrtMalloc, with a choice of pages, or by virtual memory: one reservation an arena, filled granule by
//!   granule ([`ArenaSource`]).
//! * **Events** ([`mempool_core::StreamOrder`]) of streams that were registered with [`AscendBackend::register_stream`].
//! * **Virtual memory** ([`mempool_core::VirtualMemory`]), where the library and the card have it.
//! * **Copies** to and from what it holds, by address: [`AscendBackend::write`], [`AscendBackend::read`].
//!
//! # Contract
//!
//! * Any thread may call, several at a time: `ascend-acl` makes the right context current in each call, so a thread that works
//!   with another card is no danger. No lock is held across a call of ACL.
//! * Names of streams and events are never used twice in a process, so a stale one, or one of another card, is an error.
//! * Nothing is given back to the driver while the card may still use it: see [`AscendOptions::wait_before_free`] for arenas; an
//!   event is recorded anew only when all that streams were told about it is known to have run.
//! * What a call cannot finish it undoes. What even that could not give back is counted by `acl::Runtime::release_errors`.
//! * Errors: no memory, event or address left is [`DeviceError::OutOfMemory`], a broken card [`DeviceError::Lost`], a function that
//!   the library or the chip lacks [`DeviceError::Unsupported`] with its name; everything else is [`DeviceError::Other`] with
//!   [`BackendError`] or `acl::AclError` inside.
//!
//! [`DeviceError::OutOfMemory`]: mempool_core::DeviceError::OutOfMemory
//! [`DeviceError::Lost`]: mempool_core::DeviceError::Lost
//! [`DeviceError::Unsupported`]: mempool_core::DeviceError::Unsupported
//! [`DeviceError::Other`]: mempool_core::DeviceError::Other
//!
//! # Limits
//!
//! Not yet run on an NPU. `cargo xtask hardware-test` is the way to find out on one.
#![forbid(unsafe_code)]

mod addresses;
mod arenas;
mod backend;
mod bytes;
mod error;
mod events;
mod options;
mod progress;
mod soc;
mod streams;
mod virtual_granule;
mod virtual_memory;

pub use acl;
pub use backend::{AscendBackend, Holdings};
pub use error::{BackendError, OpenError};
pub use options::{ArenaSource, AscendOptions, Pages, VirtualPages};

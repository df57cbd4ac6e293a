//! Safe owners over the Ascend Computing Language (ACL), whose order of release cannot be wrong.
//!
//! ```
//! use acl::{AclError, DeviceMemory, MallocPolicy, Runtime};
//!
//! fn first_bytes() -> Result<[u8; 4], AclError> {
//!     let context = Runtime::start()?.device(0)?.primary_context();
//!     let memory = DeviceMemory::allocate(&context, 1024, MallocPolicy::HUGE_FIRST)?;
//!     memory.as_slice().write(b"data")?;
//!     let mut bytes = [0; 4];
//!     memory.as_slice().read(&mut bytes)?;
//!     Ok(bytes)
//! }
//!
//! // Without CANN an ordinary error, which says where a library was looked for.
//! match first_bytes() {
//!     Ok(bytes) => assert_eq!(&bytes, b"data"),
//!     Err(error) => println!("{:?}: {error}", error.kind()),
//! }
//! ```
//!
//! # Owners
//!
//! ```text
//! Runtime > Device > Context > Stream, Event, DeviceMemory, PinnedMemory, MemoryPool, Model, Dataset
//!         > Watch              HostRegistration, Reservation + PhysicalMemory > Mapping
//! ```
//!
//! # Contract
//!
//! * Everything holds what it depends on, so dropping in any order releases in the right one; a child that ACL refuses to
//!   release is leaked, and with it what still needs it.
//! * Every call that needs a context makes it current on the calling thread first, and remembers that. After foreign code
//!   on the same thread may have changed it, call [`forget_current_context`]. A function that foreign code calls runs its body
//!   in [`as_guest`], which trusts nothing and puts back what was current.
//! * Contexts and streams of foreign code may be used ([`Device::foreign_context`], [`Context::foreign_stream`]); they are not
//!   destroyed here.
//! * Destructors never panic. What they could not release is counted: [`Runtime::release_errors`]. Owners with a function
//!   to release now (`free`, `unmap`) answer the error and the owner instead.
//! * Foreign code that ends ACL or resets a device takes the owners' ground away. Who shares a process with such code keeps a
//!   [`Watch`]: from that moment the owners concerned call nothing any more.
//! * A function that the library lacks is [`AclError::Unsupported`].
//! * Every type is `Send` and `Sync`. Memory on the device is bytes, and is copied, never borrowed.
//! * Work that goes on after a call returns is started by an `unsafe fn`, whose caller keeps the memory until the stream
//!   has passed it: the compiler cannot see what a device still does.
//!
//! # Limits
//!
//! IPC, peer access, managed memory, 2-D and batched copies, graph capture, bundles and dynamic shapes are not wrapped.
//! Not yet run on an NPU.

mod address;
mod api;
mod code;
mod context;
mod dataset;
mod device;
mod device_memory;
mod error;
mod event;
mod event_cache;
mod foreign;
mod guest;
mod host_registration;
mod memory_pool;
mod model;
mod owned;
mod parts;
mod pinned_memory;
mod runtime;
mod slice;
mod stream;
mod stream_allocator;
mod virtual_memory;
mod watch;

pub use address::{AddressInfo, AddressRange, MemoryPlace, ModuleMemory};
pub use code::{AclCode, ErrorKind};
pub use context::{Context, MemoryInfo, MemoryKind, forget_current_context};
pub use dataset::Dataset;
pub use device::Device;
pub use device_memory::{DeviceMemory, MallocPolicy};
pub use error::{AclError, CallFailed, Refused};
pub use event::{Event, EventFlags, EventStatus};
pub use event_cache::{CachedEvent, EventCache};
pub use guest::as_guest;
pub use host_registration::{HostRegistration, HostUse, RegisteredPart};
pub use memory_pool::{MemoryPool, PoolCounter};
pub use model::{Model, ModelBuffers, ModelSizes};
pub use pinned_memory::PinnedMemory;
pub use runtime::{ReleaseErrors, Runtime};
pub use slice::DeviceSlice;
pub use stream::{Stream, StreamFlags, ValueComparison};
pub use stream_allocator::{AllocatorOfStream, StreamAllocator};
pub use virtual_memory::{Mapping, PageKind, PhysicalMemory, Reservation, granularity};
pub use watch::{StreamKey, Watch, Watcher};

/// Compiles only while every type may be sent to and shared with other threads.
#[cfg(test)]
const fn is_for_all_threads<T: Send + Sync>() {}

#[cfg(test)]
const _: () = {
    is_for_all_threads::<(Runtime, Device, Context, Watch, Stream, Event, EventCache, CachedEvent)>();
    is_for_all_threads::<(DeviceMemory, PinnedMemory, HostRegistration, DeviceSlice<'_>, MemoryPool)>();
    is_for_all_threads::<(Reservation, PhysicalMemory, Mapping, Model, Dataset, AclError, Refused<Stream>)>();
};

//! A simulated accelerator made of host memory, for tests and demonstrations without hardware.
//!
//! A [`HostDevice`] hands out ranges of real memory (a memfd, mapped) as a device driver would: up to a capacity, in
//! multiples of a granularity, at aligned bases, next to *foreign use* by other processes that a test sets as it
//! likes. Bytes can be written, read, filled and checked by address.
//!
//! ```
//! use host_device::{HostDevice, HostDeviceConfig};
//!
//! // 64 GiB need not exist: pages appear when they are first touched.
//! let device = HostDevice::new(HostDeviceConfig::new(64 << 30))?;
//! let range = device.allocate(2 << 20)?;
//! device.write(range + 100, b"weights")?;
//! let mut bytes = [0; 7];
//! device.read(range + 100, &mut bytes)?;
//! assert_eq!(&bytes, b"weights");
//!
//! device.set_foreign_use(60 << 30);
//! assert!(device.allocate(4 << 30).is_err());
//! device.free(range, 2 << 20)?;
//! assert_eq!(device.live_ranges(), 0);
//! # Ok::<(), host_device::HostDeviceError>(())
//! ```
//!
//! Beyond ranges it has [virtual memory](HostDevice::reserve): addresses without memory, memory without addresses, and
//! mapping one to the other. An [`engine`] gives it streams, events and a clock, which tests move by hand and programs
//! let run, and reports memory that is used after it was freed or handed on too early.
//!
//! # Contract
//!
//! * This crate knows nothing of a pool; `backend-host` makes a `Device` of it.
//! * The addresses are addresses of this process, so foreign code may use them as pointers. The crate itself never
//!   does, nor does it hand out references: it copies through the file behind the mapping, so that a wrong address is
//!   an error and never a crash, and racing accesses are harmless.
//! * No input panics. Every method may be called from any thread.
//!
//! # Limits
//!
//! Linux only. Every live range, reservation and mapping takes one of the process's mappings (65,530 by default, `vm.max_map_count`). Bytes
//! that were written occupy host memory until their range is freed, whatever the capacity says.

mod access;
mod clock;
mod config;
mod device;
pub mod engine;
mod error;
mod identity;
mod memory_facts;
#[expect(unsafe_code, reason = "mapping and unmapping memory has no safe form")]
mod mmap;
mod page_store;
mod virtual_memory;

pub use clock::ClockMode;
pub use config::HostDeviceConfig;
pub use device::HostDevice;
pub use error::{FillCheckError, HostDeviceError};
pub use identity::{Life, Place, Site};
pub use memory_facts::{PhysicalHandle, RangeInfo, RangeKind, VirtualCounts};

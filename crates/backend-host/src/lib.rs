//! [`mempool_core::Device`] over host memory, and wrappers around any device.
//!
//! [`HostBackend`] makes a device of a [`HostDevice`], so that a pool runs and is tested on any Linux machine. The
//! wrappers are devices themselves and stack in any order:
//!
//! | wrapper | does |
//! |---|---|
//! | [`FaultInjection`] | fails chosen calls instead of passing them on |
//! | [`CallCounting`] | counts the calls, their failures and their bytes |
//! | [`Latency`] | runs a hook before each call, which may wait |
//!
//! ```
//! use backend_host::{CallCounting, CallKind, Fault, FaultInjection, HostBackend, HostDeviceConfig};
//! use mempool_core::{Bytes, Device, DeviceError};
//!
//! let host = HostBackend::open(HostDeviceConfig::new(1 << 30))?;
//! let device = FaultInjection::new(CallCounting::new(host));
//! device.fail_nth(CallKind::AllocateArena, 2, Fault::OutOfMemory);
//!
//! let size = Bytes::mib(2);
//! let base = device.allocate_arena(size)?;
//! assert!(matches!(device.allocate_arena(size), Err(DeviceError::OutOfMemory { .. })));
//! device.free_arena(base, size)?;
//!
//! assert_eq!(device.calls(CallKind::AllocateArena), 2);
//! // The failed call did not reach the counter, which lies below.
//! assert_eq!(device.inner().counts().calls(CallKind::AllocateArena), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Contract
//!
//! * [`HostBackend`] adds nothing to the device below but the conversion of numbers and errors.
//! * A wrapper holds no lock while it calls the device below or a hook, so calls run beside each other as they would
//!   without it. [`mempool_core::Device::properties`] is passed on untouched: it is no call of a driver.
//! * Every wrapper has two constructors: `new` takes a device, `over` shares one, also an `Arc<dyn Device>`.
#![forbid(unsafe_code)]

mod call_counting;
mod call_kind;
mod fault_injection;
mod forward;
mod host_backend;
mod latency;
mod stream_order;
mod virtual_memory;

pub use call_counting::{CallCounting, CallCounts};
pub use call_kind::CallKind;
pub use fault_injection::{Fault, FaultInjection, InjectedFault};
pub use host_backend::HostBackend;
pub use host_device::{FillCheckError, HostDevice, HostDeviceConfig, HostDeviceError};
pub use latency::{Delays, Latency};
pub use stream_order::device_stream;

/// The examples of the workspace's README run as tests, here because they need this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

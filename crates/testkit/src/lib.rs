//! What the tests of this project share: a shadow model, generated actions, devices that watch, a conformance suite.
//!
//! | module | does |
//! |---|---|
//! | [`shadow`] | a plain sorted map of what must be live, to compare a pool with |
//! | [`actions`] | what a caller may do with a pool, and an endless generator of such actions |
//! | [`drive`] | does actions to a pool and to the shadow and compares the two after each |
//! | [`contents`] | a pattern at both ends of every block, for devices with real bytes |
//! | [`watched_device`] | a [`Device`](mempool_core::Device) that keeps the pool to its part of the contract |
//! | [`event_log`] | a [`Recorder`](mempool_core::Recorder) whose events are replayed and checked |
//! | [`conformance`] | one list of checks for every device |
//! | [`seed`] | where random numbers start, how many steps a test takes, and how a failure says so |
//!
//! Everything answers a [`Violation`] instead of panicking, so that one run can gather several.
//!
//! Two programs are built on it and on its tests: `cargo xtask soak` lets threads play on streams for minutes (`examples/soak`), and
//! `cargo xtask mutants` breaks dangerous lines of the pool one by one and runs the test file that must notice.
//!
//! # Environment
//!
//! `MEMPOOL_TEST_SEED=N` repeats a failed run; `MEMPOOL_TEST_LONG=1` takes a million steps where a test is
//! made of steps.
//!
//! # Why no mock objects
//!
//! What the pool asks of a device, in which order and with which sizes, is told by [`watched_device::WatchedDevice`] in a dozen
//! lines a test. It works over any device, keeps its books while threads race and holds whole runs to the contract,
//! where a mock would answer a script that was written beforehand.

#![forbid(unsafe_code)]

pub mod actions;
pub mod conformance;
pub mod contents;
pub mod drive;
pub mod event_log;
pub mod seed;
pub mod shadow;
mod violation;
pub mod watched_device;

pub use violation::Violation;

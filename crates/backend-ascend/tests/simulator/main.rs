//! The backend on the simulated card, loaded as a program loads CANN: found by a variable, opened at run time.
//!
//! A process has one ACL, which reads the simulator's settings from the environment when it starts. So every test runs in a
//! process of its own, see [`process`].

#[cfg(test)]
mod bug_log;
#[cfg(test)]
mod cards;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod degraded;
#[cfg(test)]
mod events;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod library;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod process;
#[cfg(test)]
mod rig;

//! The owners over an ACL that keeps the rules and tells when one is broken.

mod allocators;
mod fake;
mod fake_memory;
mod fake_models;
mod fake_process;
mod fake_streams;
mod fake_table;
mod fake_virtual_memory;
mod promises;
mod scene;

#[cfg(test)]
mod call_order;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod events;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod forced_reset;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod host_memory;
#[cfg(test)]
mod order;
#[cfg(test)]
mod reported_elsewhere;
#[cfg(test)]
mod stream_allocators;
#[cfg(test)]
mod use_of_memory;
#[cfg(test)]
mod watching;

//! The owners over an ACL that keeps the rules and tells when one is broken.

mod fake;
mod fake_table;
mod scene;

#[cfg(test)]
mod failures;
#[cfg(test)]
mod order;
#[cfg(test)]
mod use_of_memory;

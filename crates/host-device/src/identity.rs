//! Who a piece of live memory is: a number of its own, where it was obtained and where it was given back.
//!
//! # Invariants
//!
//! * I1: no two lives of memory on a device ever have the same generation.
//! * I2: an identity dies once, when its memory leaves the device's table, and never wakes again.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::engine::StreamId;

/// Where in a program something is done, in the caller's words, and on which stream if on any.
///
/// ```
/// use host_device::Site;
/// let site = Site::from("load weights");
/// assert_eq!(site.to_string(), "\"load weights\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Site {
    /// Name for people, such as a function or a call site. Empty when the caller gave none.
    pub label: Cow<'static, str>,
    /// The stream in whose order it is done.
    pub stream: Option<StreamId>,
}

impl Site {
    /// A site on no stream.
    pub fn new(label: impl Into<Cow<'static, str>>) -> Self {
        Self { label: label.into(), stream: None }
    }

    /// The same site in the order of `stream`.
    #[must_use]
    pub fn on(mut self, stream: StreamId) -> Self {
        self.stream = Some(stream);
        self
    }
}

impl From<&'static str> for Site {
    fn from(label: &'static str) -> Self {
        Self::new(label)
    }
}

impl From<String> for Site {
    fn from(label: String) -> Self {
        Self::new(label)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label: &str = if self.label.is_empty() { "unnamed" } else { &self.label };
        write!(f, "{label:?}")?;
        match self.stream {
            Some(stream) => write!(f, " on {stream}"),
            None => Ok(()),
        }
    }
}

/// A site and when it was passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub site: Site,
    /// When, since the device was made.
    pub at: Duration,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.site, self.at)
    }
}

/// One life of a piece of memory, or one ownership of a block of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Tells this life from all others on the device, later ones by larger numbers.
    pub generation: u64,
    /// Address of the first byte.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Where it was allocated, mapped or declared.
    pub began: Place,
    /// Where it was freed, unmapped or retired; `None` while it lives.
    pub ended: Option<Place>,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}, obtained by {}", self.size, self.base, self.began)?;
        match &self.ended {
            Some(ended) => write!(f, ", given back by {ended}"),
            None => Ok(()),
        }
    }
}

/// What queued operations hold to recognise the memory that they were enqueued for.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) generation: u64,
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) began: Place,
    ended: OnceLock<Place>,
}

impl Identity {
    pub(crate) fn is_dead(&self) -> bool {
        self.ended.get().is_some()
    }

    pub(crate) fn life(&self) -> Life {
        let (began, ended) = (self.began.clone(), self.ended.get().cloned());
        Life { generation: self.generation, base: self.base, size: self.size, began, ended }
    }

    fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| offset < self.size)
    }
}

/// Gives identities out and remembers the last that died, for reports.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    last_generation: u64,
    dead: VecDeque<Arc<Identity>>,
}

impl Registry {
    /// How many of the dead are remembered.
    const GRAVES: usize = 1024;

    pub(crate) fn born(&mut self, base: u64, size: u64, began: Place) -> Arc<Identity> {
        self.last_generation += 1;
        Arc::new(Identity { generation: self.last_generation, base, size, began, ended: OnceLock::new() })
    }

    pub(crate) fn died(&mut self, identity: Arc<Identity>, ended: Place) {
        let first = identity.ended.set(ended).is_ok();
        debug_assert!(first, "I2: an identity dies once");
        if self.dead.len() == Self::GRAVES {
            self.dead.pop_front();
        }
        self.dead.push_back(identity);
    }

    /// The last remembered life of the memory at `address`.
    pub(crate) fn last_dead_at(&self, address: u64) -> Option<&Arc<Identity>> {
        self.dead.iter().rev().find(|identity| identity.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(label: &'static str) -> Place {
        Place { site: Site::from(label), at: Duration::from_micros(3) }
    }

    #[test]
    fn the_last_of_several_lives_at_one_address_is_found() {
        let mut registry = Registry::default();
        for label in ["first", "second"] {
            let identity = registry.born(0x1000, 16, place(label));
            registry.died(identity, place("free"));
        }
        let found = registry.last_dead_at(0x100F).unwrap();
        assert_eq!((found.generation, found.began.site.label.as_ref()), (2, "second"));
        assert!(registry.last_dead_at(0x1010).is_none());
        assert!(registry.last_dead_at(0xFFF).is_none());
    }

    #[test]
    fn only_a_bounded_number_of_the_dead_is_remembered() {
        let mut registry = Registry::default();
        for base in 0..=Registry::GRAVES as u64 {
            let identity = registry.born(base, 1, place("a"));
            registry.died(identity, place("b"));
        }
        assert!(registry.last_dead_at(0).is_none());
        assert!(registry.last_dead_at(1).is_some());
    }

    #[test]
    fn a_life_names_both_of_its_ends() {
        let mut registry = Registry::default();
        let identity = registry.born(0x1000, 16, place("load"));
        registry.died(
            Arc::clone(&identity),
            Place { site: Site::from("evict").on(StreamId::new(4)), ..place("") },
        );
        assert_eq!(
            identity.life().to_string(),
            "16 bytes at 0x1000, obtained by \"load\" at 3µs, given back by \"evict\" on stream 4 at 3µs"
        );
    }
}

//! Handles: numbers that C holds as pointers and gives back, looked up in tables.
//!
//! # Invariants
//!
//! * A number is given once in a process, so that a handle of the past never means something else.
//! * Numbers are never dereferenced.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::failure::Failure;
use crate::thread_state;

/// Handles look like aligned addresses of a page that no process maps.
static NEXT: AtomicUsize = AtomicUsize::new(0x100);

fn next_number() -> usize {
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}

/// The handle with this number.
pub(crate) fn pointer<T>(number: u64) -> *mut T {
    ptr::without_provenance_mut(usize::try_from(number).unwrap_or(0))
}

/// An address of the device as C has it.
pub(crate) fn address(number: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(usize::try_from(number).unwrap_or(0))
}

/// Things of one kind, by handle.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    kind: &'static str,
    things: Mutex<Option<HashMap<u64, Known<T>>>>,
}

#[derive(Debug)]
struct Known<T> {
    thing: Arc<T>,
    /// The call that made it, for who looks for what is left.
    maker: (&'static str, u64),
}

impl<T> Handles<T> {
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind, things: Mutex::new(None) }
    }

    /// Keeps what `make` makes of its handle.
    pub(crate) fn insert_with(&self, make: impl FnOnce(u64) -> T) -> u64 {
        let number = next_number() as u64;
        let thing = Arc::new(make(number));
        let known = Known { thing, maker: thread_state::call() };
        self.things.lock().get_or_insert_default().insert(number, known);
        number
    }

    pub(crate) fn insert(&self, thing: T) -> u64 {
        self.insert_with(|_| thing)
    }

    pub(crate) fn get(&self, number: u64) -> Result<Arc<T>, Failure> {
        let found =
            self.things.lock().as_ref().and_then(|things| Some(Arc::clone(&things.get(&number)?.thing)));
        found.ok_or_else(|| Failure::handle(self.kind, number))
    }

    pub(crate) fn remove(&self, number: u64) -> Result<Arc<T>, Failure> {
        let found = self.things.lock().as_mut().and_then(|things| things.remove(&number));
        found.map(|known| known.thing).ok_or_else(|| Failure::handle(self.kind, number))
    }

    /// Removes all that `chosen` says yes to.
    pub(crate) fn remove_where(&self, chosen: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut things = self.things.lock();
        let Some(things) = things.as_mut() else { return Vec::new() };
        things.extract_if(|_, known| chosen(&known.thing)).map(|(_, known)| known.thing).collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.things.lock().iter().flat_map(HashMap::values).map(|known| Arc::clone(&known.thing)).collect()
    }

    /// The handles of all that `chosen` says yes to, oldest first.
    pub(crate) fn numbers_where(&self, chosen: impl Fn(&T) -> bool) -> Vec<u64> {
        let things = self.things.lock();
        let all = things.iter().flatten();
        let mut numbers: Vec<u64> =
            all.filter(|(_, known)| chosen(&known.thing)).map(|(&number, _)| number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Words about all that `chosen` says yes to, oldest first.
    pub(crate) fn describe_where(&self, chosen: impl Fn(&T) -> bool) -> Vec<String> {
        let things = self.things.lock();
        let all = things.iter().flatten();
        let mut makers: Vec<_> = all
            .filter(|(_, known)| chosen(&known.thing))
            .map(|(&number, known)| (number, known.maker))
            .collect();
        makers.sort_unstable();
        let words = makers
            .into_iter()
            .map(|(_, (call, number))| format!("{} made by {call}, call {number}", self.kind));
        words.collect()
    }

    pub(crate) fn count_where(&self, chosen: impl Fn(&T) -> bool) -> usize {
        self.all().iter().filter(|thing| chosen(thing)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_handle_is_refused_and_its_number_never_comes_back() {
        let table = Handles::new("thing");
        let first = table.insert(1);
        assert_eq!(table.remove(first).map(|thing| *thing).ok(), Some(1));
        let second = table.insert(2);
        assert_ne!(first, second);
        let error = table.get(first).expect_err("it was removed");
        assert!(error.text.contains("no thing has the handle"), "{error}");
    }
}

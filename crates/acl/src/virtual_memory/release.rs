//! Giving addresses and physical memory back now, with an answer, where a destructor could only count what went wrong.

use std::sync::Arc;

use super::{PhysicalMemory, Reservation};
use crate::{AclError, Refused};

impl Reservation {
    /// Gives the addresses back now.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the reservation, if a clone or a mapping still needs it, if a mapping in it could not be undone, or
    /// if ACL refused.
    pub fn release(mut self) -> Result<(), Refused<Self>> {
        let users = Arc::strong_count(&self.inner);
        let released = match Arc::get_mut(&mut self.inner) {
            Some(inner) if inner.taken.lock().stuck => Err(in_use("mappings that could not be undone", 1)),
            Some(inner) => inner.owned.release_mut(),
            None => Err(in_use("clones and mappings of the reservation", users - 1)),
        };
        released.map_err(|error| Refused { error, owner: self })
    }
}

impl PhysicalMemory {
    /// Gives the memory back now.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the memory, if a clone or a mapping still needs it, or if ACL refused.
    pub fn release(mut self) -> Result<(), Refused<Self>> {
        let users = Arc::strong_count(&self.inner);
        let released = match Arc::get_mut(&mut self.inner) {
            Some(inner) => inner.owned.release_mut(),
            None => Err(in_use("clones and mappings of the memory", users - 1)),
        };
        released.map_err(|error| Refused { error, owner: self })
    }
}

fn in_use(parameter: &'static str, users: usize) -> AclError {
    let value = u32::try_from(users).unwrap_or(u32::MAX).into();
    AclError::Argument { parameter, value, rule: "there must be none when it is released" }
}

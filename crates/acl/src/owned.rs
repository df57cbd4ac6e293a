//! The one way in which everything that belongs to a context is released.
//!
//! # Invariants
//!
//! 1. What is ours is released at most once with success, with the context current on the releasing thread; what foreign
//!    code made is never released here.
//! 2. The context, and through it device and runtime, is let go after that: its field comes after the release.
//! 3. A destructor never panics and never throws an error away: it is recorded on the runtime.

use std::sync::Arc;

use crate::api::Release;
use crate::context::{Bound, ContextInner};
use crate::{AclError, Context, Refused};

/// Something of ACL, and the context that it needs.
#[derive(Debug)]
pub(crate) struct Owned<H: Release> {
    /// `None` once released or leaked.
    held: Option<H>,
    /// Whether somebody else made it, and releases it.
    foreign: bool,
    context: Arc<ContextInner>,
}

impl<H: Release> Owned<H> {
    /// Makes something with `context` current.
    pub(crate) fn make<'a>(
        context: &'a Context,
        make: impl FnOnce(&Bound<'a>) -> Result<H, AclError>,
    ) -> Result<Self, AclError> {
        let held = make(&context.inner.bind()?)?;
        Ok(Self { held: Some(held), foreign: false, context: Arc::clone(&context.inner) })
    }

    /// Something that somebody else made and will release.
    pub(crate) fn foreign(context: &Context, held: H) -> Self {
        Self { held: Some(held), foreign: true, context: Arc::clone(&context.inner) }
    }

    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign
    }

    pub(crate) fn get(&self) -> &H {
        self.held.as_ref().expect("taken only by functions that take the owner, and by drop")
    }

    /// What is held, for a destructor that may come after a release.
    pub(crate) fn held(&self) -> Option<&H> {
        self.held.as_ref()
    }

    pub(crate) fn get_mut(&mut self) -> &mut H {
        self.held.as_mut().expect("taken only by functions that take the owner, and by drop")
    }

    pub(crate) fn bind(&self) -> Result<Bound<'_>, AclError> {
        self.context.bind()
    }

    /// That memory which ACL gave is still there, for use without a call.
    pub(crate) fn require_live(&self, call: &'static str) -> Result<(), AclError> {
        self.context.live(call).map(drop)
    }

    pub(crate) fn context(&self) -> &Arc<ContextInner> {
        &self.context
    }

    /// Releases now, and says what went wrong.
    pub(crate) fn release(self) -> Result<(), Refused<Self>> {
        self.release_by(H::release)
    }

    /// The same by another call.
    pub(crate) fn release_by(
        mut self,
        release: impl FnOnce(H, &Bound<'_>) -> Result<(), Refused<H>>,
    ) -> Result<(), Refused<Self>> {
        match self.try_release(release) {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused { error, owner: self }),
        }
    }

    /// The same for an owner that has a destructor of its own; it is held again after a failure.
    pub(crate) fn release_mut(&mut self) -> Result<(), AclError> {
        self.try_release(H::release)
    }

    /// Releases what is held, and only lets go of what is foreign; after a failure it is still held.
    pub(crate) fn try_release(
        &mut self,
        release: impl FnOnce(H, &Bound<'_>) -> Result<(), Refused<H>>,
    ) -> Result<(), AclError> {
        if self.foreign {
            self.held = None;
            return Ok(());
        }
        let bound = self.context.bind()?;
        let Some(held) = self.held.take() else { return Ok(()) };
        match release(held, &bound) {
            Ok(()) => Ok(()),
            Err(Refused { error, owner }) => {
                self.held = Some(owner);
                Err(error)
            }
        }
    }

    /// Releases as the destructor does, and says whether it is gone.
    pub(crate) fn release_in_drop(&mut self) -> bool {
        if self.held.is_none() {
            return true;
        }
        if self.context.is_reset() {
            // The reset has released it.
            self.held = None;
            return true;
        }
        if self.context.runtime().is_abandoned() {
            self.leak();
            return false;
        }
        match self.try_release(H::release) {
            Ok(()) => true,
            Err(error) => {
                self.context.runtime().record_failure(error);
                self.held = None;
                false
            }
        }
    }

    /// Lets it go unreleased.
    pub(crate) fn leak(&mut self) {
        if self.held.take().is_some() && !self.foreign {
            self.context.runtime().record_leak(std::any::type_name::<H>());
        }
    }
}

impl<H: Release> Drop for Owned<H> {
    fn drop(&mut self) {
        self.release_in_drop();
    }
}

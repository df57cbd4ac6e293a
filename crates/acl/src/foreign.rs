//! Contexts and streams that foreign code made: used here, never destroyed.
//!
//! A C interface gets the stream of its caller as a bare pointer. What is made of it here behaves like one of ours, except that
//! its drop calls nothing.
#![expect(unsafe_code, reason = "takes bare handles, for which the caller vouches")]

use acl_sys::{aclrtContext, aclrtStream};

use crate::api::Handle;
use crate::owned::Owned;
use crate::{AclError, Context, Device, Stream};

impl Device {
    /// A context that foreign code made on this device. What is made in it may be used like everything else; the context is
    /// not destroyed here.
    ///
    /// # Errors
    ///
    /// [`AclError::Argument`] for null.
    ///
    /// # Safety
    ///
    /// - `context` is a context of this device, of the library below the [`Runtime`](crate::Runtime).
    /// - It is destroyed only after everything that was made in it here is gone.
    pub unsafe fn foreign_context(&self, context: aclrtContext) -> Result<Context, AclError> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::foreign_context(context) }?;
        Ok(Context::foreign(handle, self))
    }
}

impl Context {
    /// A stream that foreign code made in this context. It is neither destroyed here, nor waited for by a drop.
    ///
    /// May be called again for each use, or once and kept: it costs neither an allocation nor a call of ACL.
    ///
    /// ```
    /// # #![expect(unsafe_code, reason = "a C function")]
    /// use acl::{AclError, Context, Event, EventFlags, as_guest};
    ///
    /// /// Marks the end of a framework's stream.
    /// ///
    /// /// # Safety
    /// ///
    /// /// - `stream` is a stream of `context`, and lives through the call.
    /// unsafe fn mark(context: &Context, stream: acl_sys::aclrtStream) -> Result<Event, AclError> {
    ///     as_guest(|| {
    ///         // SAFETY: the caller's promise; what is made of it ends with this function.
    ///         let stream = unsafe { context.foreign_stream(stream) }?;
    ///         let event = Event::new(context, EventFlags::PROGRESS)?;
    ///         event.record(&stream)?;
    ///         Ok(event)
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AclError::Argument`] for null, by which C means [`Self::default_stream`].
    ///
    /// # Safety
    ///
    /// - `stream` is a stream of this context.
    /// - It is destroyed only after the last use of what this answers.
    pub unsafe fn foreign_stream(&self, stream: aclrtStream) -> Result<Stream, AclError> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::foreign_stream(stream) }?;
        Ok(Stream::of(Owned::foreign(self, handle)))
    }

    /// The stream that the context has of itself, where C means no stream. It lives as long as the context.
    ///
    /// # Errors
    ///
    /// ACL's own.
    pub fn default_stream(&self) -> Result<Stream, AclError> {
        let handle = self.inner.bind()?.default_stream()?;
        Ok(Stream::of(Owned::foreign(self, handle)))
    }
}

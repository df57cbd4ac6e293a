//! Stream order: which work must be over before freed memory may be used again, and by whom.
//!
//! Device work runs behind the caller. A block freed *on* a stream may be used again on that stream at once, for its work runs in
//! order; elsewhere only after what the stream had been given before the free is done, or after the other stream was made to wait
//! for it. Three ideas keep that cheap:
//!
//! * **Epochs.** Each stream counts epochs. A free *stamps* the memory with the stream and its open epoch ([`Stamp`]). Closing an
//!   epoch and recording one event covers every free of it, so there is never an event for each free.
//! * **Merging.** Free runs that touch are joined at once and carry the stamps of both ([`Stamps`]): order costs no memory.
//! * **Transitive waits.** A stream that was made to wait for another knows it for all memory freed there before, and knows
//!   what the other one had waited for ([`Streams`]).
//!
//! Pure computation: device calls are made by the pool, outside of its lock.

mod stamp;
mod streams;
#[cfg(test)]
mod tests;

pub(crate) use stamp::{Slot, Stamp, Stamps};
pub(crate) use streams::{Batch, Streams};
pub use streams::{StreamId, StreamMark};

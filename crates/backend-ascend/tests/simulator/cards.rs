//! Cards of the simulator, and what is on them.

use backend_ascend::acl::{Context, Runtime};
use backend_ascend::{AscendBackend, AscendOptions, Holdings};
use mempool_core::{Bytes, Device};

/// Opens card 0.
pub(crate) fn open(options: AscendOptions) -> AscendBackend {
    AscendBackend::open(0, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The context that a card has of itself.
pub(crate) fn context_of(device: i32) -> Context {
    Runtime::start().unwrap().device(device).unwrap().primary_context()
}

/// Free bytes of the card.
pub(crate) fn free_of(backend: &AscendBackend) -> Bytes {
    backend.memory_info().unwrap().free
}

/// That a backend holds nothing but events for later, and that nothing was lost on the way.
#[track_caller]
pub(crate) fn assert_holds_nothing(backend: &AscendBackend) {
    let held = backend.holdings();
    let Holdings { arenas, streams, events, reservations, memories, mappings, .. } = held;
    assert_eq!([arenas, streams, events, reservations, memories, mappings], [0; 6], "{held:?}");
    let errors = backend.context().device().runtime().release_errors();
    assert_eq!((errors.failed, errors.leaked), (0, 0), "{:?}", errors.last);
}

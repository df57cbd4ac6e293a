//! A backend on the simulated card, its streams, and work in them that lasts until it is let go.

use std::sync::{Arc, mpsc};

use backend_ascend::acl::{Context, Runtime, Stream};
use backend_ascend::{AscendBackend, AscendOptions, Holdings};
use mempool_core::{Bytes, Device, DeviceStream};
use testkit::conformance::{HeldWork, StreamRig};

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

/// A backend with streams of its own.
#[derive(Debug)]
pub(crate) struct AscendRig {
    pub(crate) backend: Arc<AscendBackend>,
}

/// Work of a host function that waits for a word.
#[derive(Debug)]
pub(crate) struct Held {
    release: mpsc::Sender<()>,
}

impl AscendRig {
    pub(crate) fn new(options: AscendOptions) -> Self {
        Self { backend: Arc::new(open(options)) }
    }

    /// A stream, with its name.
    pub(crate) fn new_stream(&self) -> (Arc<Stream>, DeviceStream) {
        let stream = Arc::new(Stream::new(self.backend.context()).unwrap());
        let name = self.backend.register_stream(&stream).unwrap();
        (stream, name)
    }
}

/// Puts work into a stream that lasts until it is let go, or dropped.
pub(crate) fn hold(stream: &Stream) -> Held {
    let (release, released) = mpsc::channel::<()>();
    stream
        .launch_host_function(move || {
            // An error is a sender that is gone, which lets go too.
            let _ = released.recv();
        })
        .unwrap();
    Held { release }
}

impl HeldWork for Held {
    fn let_go(self: Box<Self>) {
        self.release.send(()).expect("the work waits for it");
    }
}

impl StreamRig for AscendRig {
    fn device(&self) -> Arc<dyn Device> {
        Arc::clone(&self.backend) as _
    }

    fn stream(&self) -> DeviceStream {
        self.new_stream().1
    }

    fn hold(&self, stream: DeviceStream) -> Box<dyn HeldWork> {
        Box::new(hold(&self.backend.registered_stream(stream).unwrap()))
    }
}

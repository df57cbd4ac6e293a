//! A backend with streams, work in them that lasts until it is let go, and the bytes of its memory. Also used by the example `hardware_test`.

use std::sync::{Arc, mpsc};

use backend_ascend::AscendBackend;
use backend_ascend::acl::Stream;
use mempool_core::{Device, DeviceAddress, DeviceStream};
use testkit::conformance::{HeldWork, StreamRig};
use testkit::contents::DeviceBytes;

/// A backend with streams of its own.
#[derive(Debug)]
pub(crate) struct AscendRig {
    pub(crate) backend: Arc<AscendBackend>,
}

/// The bytes of a backend's memory.
#[derive(Debug)]
pub(crate) struct AscendBytes(pub(crate) Arc<AscendBackend>);

impl DeviceBytes for AscendBytes {
    fn write(&self, address: DeviceAddress, bytes: &[u8]) -> Result<(), String> {
        self.0.write(address, bytes).map_err(|error| error.to_string())
    }

    fn read(&self, address: DeviceAddress, bytes: &mut [u8]) -> Result<(), String> {
        self.0.read(address, bytes).map_err(|error| error.to_string())
    }
}

/// Work of a host function that waits for a word.
#[derive(Debug)]
pub(crate) struct Held {
    release: mpsc::Sender<()>,
}

impl AscendRig {
    pub(crate) fn new(backend: AscendBackend) -> Self {
        Self { backend: Arc::new(backend) }
    }

    /// A stream, with its name.
    pub(crate) fn new_stream(&self) -> (Arc<Stream>, DeviceStream) {
        let stream = Arc::new(Stream::new(self.backend.context()).expect("the card has streams left"));
        let name = self.backend.register_stream(&stream).expect("it is of the same card");
        (stream, name)
    }
}

/// Puts work into a stream that lasts until it is let go, or dropped.
pub(crate) fn hold(stream: &Stream) -> Held {
    let (release, released) = mpsc::channel::<()>();
    let work = move || {
        // An error is a sender that is gone, which lets go too.
        let _ = released.recv();
    };
    stream.launch_host_function(work).expect("a stream takes a host function");
    Held { release }
}

impl HeldWork for Held {
    fn let_go(self: Box<Self>) {
        // An error is work that was dropped with its stream.
        let _ = self.release.send(());
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
        Box::new(hold(&self.backend.registered_stream(stream).expect("it is of this rig")))
    }
}

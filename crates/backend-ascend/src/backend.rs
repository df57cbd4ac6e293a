//! [`AscendBackend`]: a card, or a context on one, as the pool sees it.

use std::sync::Arc;

use acl::{AclCode, AclError, Context, MemoryKind, Runtime, Stream};
use mempool_core::{
    Alignment, Bytes, Device, DeviceAddress, DeviceError, DeviceProperties, DeviceStream, MemoryInfo,
    StreamOrder, VirtualMemory,
};

use crate::arenas::{ArenaFacts, Arenas};
use crate::error::{BackendError, OpenError, device_error};
use crate::events::Events;
use crate::options::{ArenaSource, AscendOptions, VirtualPages};
use crate::soc;
use crate::streams::Streams;
use crate::virtual_granule::granule_of;
use crate::virtual_memory::VirtualSpace;

/// A [`Device`] whose arenas lie on an Ascend card.
///
/// ```no_run
/// use std::sync::Arc;
/// use backend_ascend::acl::Stream;
/// use backend_ascend::{AscendBackend, AscendOptions};
/// use mempool_core::{Bytes, Pool, PoolConfig, StreamOrder};
///
/// let card = Arc::new(AscendBackend::open(0, AscendOptions::default())?);
/// let pool = Pool::new(Arc::clone(&card) as _, PoolConfig::default())?;
/// let block = pool.allocate(Bytes::new(5))?;
/// card.write(block.address(), b"bytes")?;
///
/// let stream = Arc::new(Stream::new(card.context())?);
/// let name = card.register_stream(&stream)?;
/// let event = card.record_event(name)?;
/// card.synchronize_event(event)?;
/// card.release_event(event)?;
/// card.release_stream(name)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Any thread. What is still held when the last owner drops it is given back then, after the work of the card where that may
/// still need it.
#[derive(Debug)]
pub struct AscendBackend {
    arenas: Arenas,
    virtual_space: Option<VirtualSpace>,
    no_virtual_memory: Option<OpenError>,
    events: Events,
    streams: Streams,
    options: AscendOptions,
    properties: DeviceProperties,
    context: Context,
}

/// What a backend holds at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Holdings {
    /// Arenas.
    pub arenas: usize,
    /// Registered streams.
    pub streams: usize,
    /// Events that were recorded and not released.
    pub events: usize,
    /// Events that were released and are kept, to be recorded again or because something of them is pending.
    pub kept_events: usize,
    /// Reservations of addresses, without those of arenas.
    pub reservations: usize,
    /// Pieces of memory without an address, without those of arenas.
    pub memories: usize,
    /// Mappings, without those of arenas.
    pub mappings: usize,
    /// Arenas so far that fell back to pages of 4 KiB; see [`AscendOptions::fall_back_to_normal_pages`].
    pub normal_page_arenas: u64,
}

impl AscendBackend {
    /// Opens the card of that number, as this process counts them, in the context that the card has of itself.
    ///
    /// Loads ACL and initialises it if nobody has. O(1) calls of ACL.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoLibrary`], [`OpenError::NoSuchDevice`], [`OpenError::NoVirtualMemory`] if the options need it, or ACL's own.
    pub fn open(device: i32, options: AscendOptions) -> Result<Self, OpenError> {
        let runtime = Runtime::start().map_err(|error| match error {
            AclError::NoLibrary(_) => OpenError::NoLibrary { source: error },
            other => other.into(),
        })?;
        let opened = runtime.device(device).map_err(|source| no_such_device(&runtime, device, source))?;
        Self::over(opened.primary_context(), options)
    }

    /// The same over a context that the caller has.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub fn over(context: Context, options: AscendOptions) -> Result<Self, OpenError> {
        let soc = context.soc_name()?;
        let tail_padding = soc::tail_padding(&soc);
        let by_virtual_memory = options.arena_source == ArenaSource::VirtualMemory;
        let is_needed = by_virtual_memory || options.virtual_pages != VirtualPages::default();
        let (granule, no_virtual_memory) = match granule_of(&context, options.virtual_pages) {
            Ok(granule) => (Some(granule), None),
            Err(error @ OpenError::NoVirtualMemory { .. }) if !is_needed => {
                tracing::info!(%error, "the card offers no virtual memory");
                (None, Some(error))
            }
            Err(error) => return Err(error),
        };
        let virtual_space = granule.map(|granule| VirtualSpace::new(granule.bytes(), options.virtual_pages));
        let (arena_granularity, arena_alignment) = match granule {
            Some(granule) if by_virtual_memory => (granule.bytes(), granule),
            _ => (Alignment::MIB_2.bytes(), Alignment::B_512),
        };
        let properties = DeviceProperties::new(soc)
            .with_arena_granularity(arena_granularity)
            .with_arena_alignment(arena_alignment)
            .with_block_alignment(soc::BLOCK_ALIGNMENT)
            .with_tail_padding(tail_padding);
        let arenas = Arenas::new(ArenaFacts {
            options,
            granularity: arena_granularity,
            alignment: arena_alignment,
            padding: tail_padding.extra,
            granule: granule
                .filter(|_| by_virtual_memory)
                .and_then(|granule| usize::try_from(granule.get()).ok()),
        });
        let (events, streams) = (Events::new(&context), Streams::default());
        Ok(Self { arenas, virtual_space, no_virtual_memory, events, streams, options, properties, context })
    }

    /// The context in which the backend works.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The options it was opened with.
    pub fn options(&self) -> AscendOptions {
        self.options
    }

    /// Why [`Device::virtual_memory`] answers `None`, where it does.
    pub fn why_no_virtual_memory(&self) -> Option<&OpenError> {
        self.no_virtual_memory.as_ref()
    }

    /// What it holds now. O(registered streams), a few locks.
    pub fn holdings(&self) -> Holdings {
        let (events, kept_events) = self.events.counts();
        let [reservations, memories, mappings] =
            self.virtual_space.as_ref().map(VirtualSpace::counts).unwrap_or_default();
        Holdings {
            arenas: self.arenas.count(),
            streams: self.streams.count(),
            events,
            kept_events,
            reservations,
            memories,
            mappings,
            normal_page_arenas: self.arenas.on_normal_pages(),
        }
    }

    /// Names a stream of this card for the pool, and keeps it until [`Self::release_stream`]. A stream that has a name keeps
    /// it; no other stream of this process ever gets it.
    ///
    /// # Errors
    ///
    /// [`BackendError::OtherDevice`].
    pub fn register_stream(&self, stream: &Arc<Stream>) -> Result<DeviceStream, BackendError> {
        let (stream_device, device) = (stream.context().device().number(), self.device_number());
        if stream_device != device {
            return Err(BackendError::OtherDevice { stream_device, device });
        }
        Ok(self.streams.register(stream))
    }

    /// The stream of a name.
    ///
    /// # Errors
    ///
    /// [`BackendError::UnknownStream`].
    pub fn registered_stream(&self, stream: DeviceStream) -> Result<Arc<Stream>, BackendError> {
        Ok(self.streams.get(stream)?.stream)
    }

    /// Forgets a stream, which must get nothing by this name meanwhile, and gives it back to be destroyed or used elsewhere.
    ///
    /// Waits for its work if events or waits of the backend may still be pending in it, so that nothing depends on the stream
    /// afterwards: its events can still be asked about.
    ///
    /// # Errors
    ///
    /// [`BackendError::UnknownStream`], or ACL's own error of the wait; the stream then stays registered.
    pub fn release_stream(&self, stream: DeviceStream) -> Result<Arc<Stream>, DeviceError> {
        let registered = self.streams.take(stream)?;
        if !registered.progress.is_settled() {
            let proof = registered.progress.proof();
            if let Err(error) = registered.stream.synchronize() {
                self.streams.put_back(registered);
                return Err(device_error(error, Bytes::ZERO));
            }
            registered.progress.note_passed(proof);
        }
        Ok(registered.stream)
    }

    pub(crate) fn arenas(&self) -> &Arenas {
        &self.arenas
    }

    pub(crate) fn streams(&self) -> &Streams {
        &self.streams
    }

    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    pub(crate) fn virtual_space(&self) -> Option<&VirtualSpace> {
        self.virtual_space.as_ref()
    }

    fn device_number(&self) -> i32 {
        self.context.device().number()
    }

    /// Waits for all work that may touch an arena.
    fn wait_for_work(&self) -> Result<(), AclError> {
        // The documents leave open whether one call waits for other contexts too.
        self.context.synchronize_device()?;
        let others = self.streams.contexts().into_iter().filter(|context| *context != self.context);
        others.into_iter().try_for_each(|context| context.synchronize_device())
    }
}

impl Device for AscendBackend {
    fn properties(&self) -> DeviceProperties {
        self.properties.clone()
    }

    fn memory_info(&self) -> Result<MemoryInfo, DeviceError> {
        let info = self.context.memory_info(MemoryKind::HBM);
        let info = info.map_err(|error| device_error(error, Bytes::ZERO))?;
        Ok(MemoryInfo { total: Bytes::new(info.total as u64), free: Bytes::new(info.free as u64) })
    }

    fn allocate_arena(&self, size: Bytes) -> Result<DeviceAddress, DeviceError> {
        self.arenas.allocate(&self.context, size)
    }

    fn free_arena(&self, base: DeviceAddress, size: Bytes) -> Result<(), DeviceError> {
        if self.options.wait_before_free && self.arenas.is_live(base, size) {
            self.wait_for_work().map_err(|error| device_error(error, Bytes::ZERO))?;
        }
        self.arenas.free(base, size)
    }

    fn stream_order(&self) -> Option<&dyn StreamOrder> {
        Some(self)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        self.virtual_space.is_some().then_some(self)
    }
}

impl Drop for AscendBackend {
    /// Waits for the card if an event is still pending in a stream, since a stream must not be left waiting for what is gone, or
    /// if an arena is left that the options want to be waited for.
    fn drop(&mut self) {
        let arena_is_left = self.options.wait_before_free && self.arenas.count() > 0;
        if (arena_is_left || self.events.is_pending())
            && let Err(error) = self.wait_for_work()
        {
            tracing::warn!(%error, "could not wait for the card at the end of a backend");
        }
    }
}

/// A number that is none of a device has an error of its own.
fn no_such_device(runtime: &Runtime, device: i32, source: AclError) -> OpenError {
    let of_the_number = [AclCode::RT_INVALID_DEVICEID, AclCode::INVALID_DEVICE, AclCode::NO_DEVICE];
    let is_known = |count: u32| u32::try_from(device).is_ok_and(|number| number < count);
    match runtime.device_count() {
        Ok(count) if !is_known(count) || source.code().is_some_and(|code| of_the_number.contains(&code)) => {
            OpenError::NoSuchDevice { device, count, source }
        }
        _ => source.into(),
    }
}

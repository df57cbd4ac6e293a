//! Which calls reach ACL, with which handle, in which order, and no others: scripts that a mock follows.
//!
//! The fake of the other tests says whether a rule was broken. Here stands what is called at all, so that a call that comes
//! too much, or with the handle of a neighbour, is seen too.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use acl::{
    AclError, DeviceMemory, Event, EventFlags, MallocPolicy, Model, PageKind, PhysicalMemory, Reservation,
    Runtime, Stream, as_guest, forget_current_context,
};
use acl_sys::*;
use mockall::predicate::eq;
use mockall::{Sequence, automock};
use serial_test::serial;

use super::allocators::Counting;
use super::fake_table::{give, pointer};
use super::promises::start;

/// ACL as seen from below: the name of a function, and the handle or number that it is about.
#[automock]
trait Acl {
    /// Answers the handle that is made; for a function that makes none it does not matter.
    fn call(&self, function: &'static str, about: usize) -> usize;
}

static ACL: Mutex<Option<MockAcl>> = Mutex::new(None);
static COMPLAINTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Follows the script; a call that is not the next of it is noted, as no panic may pass through C.
fn call(function: &'static str, about: usize) -> usize {
    let acl = ACL.lock().unwrap_or_else(PoisonError::into_inner);
    let answer =
        catch_unwind(AssertUnwindSafe(|| acl.as_ref().expect("`follow` came first").call(function, about)));
    answer.unwrap_or_else(|_| {
        COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner).push(function);
        0
    })
}

/// Runs `work` over an ACL that expects these calls, each once, in this order: function, what it is about, what it makes.
fn follow(script: &[(&'static str, usize, usize)], work: impl FnOnce(Runtime) -> Result<(), AclError>) {
    let mut acl = MockAcl::new();
    let mut order = Sequence::new();
    for &(function, about, makes) in script {
        let expected = acl.expect_call().with(eq(function), eq(about)).times(1);
        expected.in_sequence(&mut order).return_const(makes);
    }
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    *ACL.lock().unwrap_or_else(PoisonError::into_inner) = Some(acl);
    let script_under_way = UnderWay;
    // The last test may have left something current.
    forget_current_context();
    let done = start(&table()).and_then(work);
    let complaints = std::mem::take(&mut *COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner));
    assert_eq!((done, complaints), (Ok(()), Vec::new()));
    drop(script_under_way);
}

/// Takes the script away, also where a test fails in the middle of it, so that the next test begins with its own.
struct UnderWay;

impl Drop for UnderWay {
    fn drop(&mut self) {
        let acl = ACL.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The mock panics here if something was not called, unless the test panics already.
        drop(acl);
    }
}

/// Functions that tell the mock.
macro_rules! shims {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $body:expr;)*) => {
        $(
            #[expect(non_snake_case, reason = "the name of the interface")]
            extern "C" fn $name($($argument: $type),*) -> aclError {
                let tell: fn(&'static str, $($type),*) = $body;
                tell(stringify!($name), $($argument),*);
                ACL_SUCCESS
            }
        )*

        fn table() -> Table {
            Table { $($name: Some($name),)* aclrtAllocatorCreateDesc: Some(create_description), ..Table::EMPTY }
        }
    };
}

extern "C" fn create_description() -> aclrtAllocatorDesc {
    pointer(call("aclrtAllocatorCreateDesc", 0))
}

fn make(function: &'static str, about: usize, out: *mut *mut c_void) {
    give(out, pointer(call(function, about)));
}

fn on(function: &'static str, handle: *mut c_void) {
    call(function, handle.addr());
}

fn on_device(function: &'static str, device: i32) {
    call(function, usize::try_from(device).expect("not negative"));
}

shims! {
    fn aclInit(_config: *const c_char) |name, _| { call(name, 0); };
    fn aclFinalizeReference(_left: *mut u64) |name, _| { call(name, 0); };
    fn aclrtSetDevice(device: i32) on_device;
    fn aclrtResetDevice(device: i32) on_device;
    fn aclrtGetCurrentContext(out: *mut aclrtContext) |name, out| make(name, 0, out);
    fn aclrtSetCurrentContext(context: aclrtContext) on;
    fn aclrtCreateContext(out: *mut aclrtContext, device: i32) |name, out, device| {
        make(name, usize::try_from(device).expect("not negative"), out);
    };
    fn aclrtDestroyContext(context: aclrtContext) on;
    fn aclrtCreateStream(out: *mut aclrtStream) |name, out| make(name, 0, out);
    fn aclrtSynchronizeStream(stream: aclrtStream) on;
    fn aclrtDestroyStream(stream: aclrtStream) on;
    fn aclrtCreateEventExWithFlag(out: *mut aclrtEvent, flag: u32) |name, out, flag| make(name, flag as usize, out);
    fn aclrtRecordEvent(event: aclrtEvent, _stream: aclrtStream) |name, event, _| on(name, event);
    fn aclrtSynchronizeEvent(event: aclrtEvent) on;
    fn aclrtDestroyEvent(event: aclrtEvent) on;
    fn aclrtMalloc(out: *mut *mut c_void, size: usize, _policy: aclrtMemMallocPolicy) |name, out, size, _| {
        make(name, size, out);
    };
    fn aclrtFree(address: *mut c_void) on;
    fn aclrtReserveMemAddress(out: *mut *mut c_void, size: usize, _align: usize, _wish: *mut c_void, _flags: u64)
        |name, out, size, _, _, _| make(name, size, out);
    fn aclrtReleaseMemAddress(address: *mut c_void) on;
    fn aclrtMallocPhysical(out: *mut aclrtDrvMemHandle, size: usize, _properties: *const aclrtPhysicalMemProp, _flags: u64)
        |name, out, size, _, _| make(name, size, out);
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) on;
    fn aclrtMapMem(address: *mut c_void, _size: usize, _offset: usize, _handle: aclrtDrvMemHandle, _flags: u64)
        |name, address, _, _, _, _| on(name, address);
    fn aclrtUnmapMem(address: *mut c_void) on;
    fn aclmdlLoadFromFile(_path: *const c_char, out: *mut u32) |name, _, out| {
        give(out, u32::try_from(call(name, 0)).expect("small"));
    };
    fn aclmdlUnload(id: u32) |name, id| { call(name, id as usize); };
    fn aclrtAllocatorDestroyDesc(description: aclrtAllocatorDesc) on;
    fn aclrtAllocatorSetObjToDesc(description: aclrtAllocatorDesc, _object: aclrtAllocator)
        |name, description, _| on(name, description);
    fn aclrtAllocatorSetAllocFuncToDesc(description: aclrtAllocatorDesc, _function: aclrtAllocatorAllocFunc)
        |name, description, _| on(name, description);
    fn aclrtAllocatorSetFreeFuncToDesc(description: aclrtAllocatorDesc, _function: aclrtAllocatorFreeFunc)
        |name, description, _| on(name, description);
    fn aclrtAllocatorSetAllocAdviseFuncToDesc(description: aclrtAllocatorDesc, _function: aclrtAllocatorAllocAdviseFunc)
        |name, description, _| on(name, description);
    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description: aclrtAllocatorDesc, _function: aclrtAllocatorGetAddrFromBlockFunc)
        |name, description, _| on(name, description);
    fn aclrtAllocatorRegister(stream: aclrtStream, _description: aclrtAllocatorDesc) |name, stream, _| on(name, stream);
    fn aclrtAllocatorUnregister(stream: aclrtStream) on;
}

const PRIMARY: usize = 0xD000;
const CONTEXT: usize = 0xC000;
const STREAM: usize = 0x5000;
const EVENT: usize = 0xE000;
const MEMORY: usize = 0xA000;

#[test]
#[serial]
fn init_comes_first_and_the_end_last_with_the_device_inside() {
    let script = [
        ("aclInit", 0, 0),
        ("aclrtSetDevice", 1, 0),
        ("aclrtGetCurrentContext", 0, PRIMARY),
        ("aclrtMalloc", 64, MEMORY),
        ("aclrtFree", MEMORY, 0),
        ("aclrtResetDevice", 1, 0),
        ("aclFinalizeReference", 0, 0),
    ];
    follow(&script, |runtime| {
        let context = runtime.device(1)?.primary_context();
        let memory = DeviceMemory::allocate(&context, 64, MallocPolicy::default())?;
        // The wrong way round.
        drop(runtime);
        drop(context);
        drop(memory);
        Ok(())
    });
}

#[test]
#[serial]
fn the_context_of_each_call_is_bound_just_before_it_and_only_if_another_is_current() {
    let script = [
        ("aclInit", 0, 0),
        ("aclrtSetDevice", 0, 0),
        ("aclrtGetCurrentContext", 0, PRIMARY),
        ("aclrtCreateContext", 0, CONTEXT),
        ("aclrtCreateStream", 0, STREAM),
        ("aclrtSynchronizeStream", STREAM, 0),
        ("aclrtSetCurrentContext", PRIMARY, 0),
        ("aclrtMalloc", 64, MEMORY),
        ("aclrtSetCurrentContext", CONTEXT, 0),
        ("aclrtSynchronizeStream", STREAM, 0),
        // The releases too.
        ("aclrtSetCurrentContext", PRIMARY, 0),
        ("aclrtFree", MEMORY, 0),
        ("aclrtSetCurrentContext", CONTEXT, 0),
        ("aclrtDestroyStream", STREAM, 0),
        ("aclrtDestroyContext", CONTEXT, 0),
        ("aclrtResetDevice", 0, 0),
        ("aclFinalizeReference", 0, 0),
    ];
    follow(&script, |runtime| {
        let device = runtime.device(0)?;
        let context = device.create_context()?;
        let stream = Stream::new(&context)?;
        stream.synchronize()?;
        let memory = DeviceMemory::allocate(&device.primary_context(), 64, MallocPolicy::default())?;
        stream.synchronize()?;
        drop((runtime, device, context));
        drop(memory);
        drop(stream);
        Ok(())
    });
}

#[test]
#[serial]
fn what_hangs_on_something_goes_before_it_however_it_is_dropped() {
    const ADDRESS: usize = 0xB000;
    const PHYSICAL: usize = 0xF000;
    const MODEL: usize = 7;
    let script = [
        ("aclInit", 0, 0),
        ("aclrtSetDevice", 0, 0),
        ("aclrtGetCurrentContext", 0, PRIMARY),
        ("aclrtReserveMemAddress", 8192, ADDRESS),
        ("aclrtMallocPhysical", 4096, PHYSICAL),
        ("aclrtMapMem", ADDRESS + 4096, 0),
        ("aclmdlLoadFromFile", 0, MODEL),
        ("aclrtUnmapMem", ADDRESS + 4096, 0),
        ("aclrtReleaseMemAddress", ADDRESS, 0),
        ("aclrtFreePhysical", PHYSICAL, 0),
        ("aclmdlUnload", MODEL, 0),
        ("aclrtResetDevice", 0, 0),
        ("aclFinalizeReference", 0, 0),
    ];
    follow(&script, |runtime| {
        let context = runtime.device(0)?.primary_context();
        let reservation = Reservation::new(&context, 8192)?;
        let physical = PhysicalMemory::allocate(&context, 4096, PageKind::HUGE)?;
        let mapping = reservation.map(4096, &physical)?;
        let model = Model::load(&context, "net.om".as_ref())?;
        drop((runtime, context, reservation, physical));
        drop(mapping);
        drop(model);
        Ok(())
    });
}

#[test]
#[serial]
fn an_event_is_recorded_before_it_is_waited_for_and_nothing_is_asked_of_one_that_was_not() {
    let flags = EventFlags::PROGRESS;
    let script = [
        ("aclInit", 0, 0),
        ("aclrtSetDevice", 0, 0),
        ("aclrtGetCurrentContext", 0, PRIMARY),
        ("aclrtCreateStream", 0, STREAM),
        ("aclrtCreateEventExWithFlag", flags.0 as usize, EVENT),
        ("aclrtRecordEvent", EVENT, 0),
        ("aclrtSynchronizeEvent", EVENT, 0),
        ("aclrtDestroyEvent", EVENT, 0),
        ("aclrtDestroyStream", STREAM, 0),
        ("aclrtResetDevice", 0, 0),
        ("aclFinalizeReference", 0, 0),
    ];
    follow(&script, |runtime| {
        let context = runtime.device(0)?.primary_context();
        let stream = Stream::new(&context)?;
        let event = Event::new(&context, flags)?;
        let too_early = [event.synchronize(), stream.wait(&event), event.query().map(drop)];
        assert_eq!(too_early.iter().filter(|answer| answer.is_err()).count(), 2);
        event.record(&stream)?;
        event.synchronize()?;
        drop(event);
        drop(stream);
        Ok(())
    });
}

#[test]
#[serial]
fn a_description_is_whole_before_it_is_registered_and_a_stream_is_unregistered_before_it_goes() {
    const DESCRIPTION: usize = 0x9000;
    let script = [
        ("aclInit", 0, 0),
        ("aclrtSetDevice", 0, 0),
        ("aclrtGetCurrentContext", 0, PRIMARY),
        ("aclrtCreateStream", 0, STREAM),
        ("aclrtAllocatorCreateDesc", 0, DESCRIPTION),
        ("aclrtAllocatorSetObjToDesc", DESCRIPTION, 0),
        ("aclrtAllocatorSetAllocFuncToDesc", DESCRIPTION, 0),
        ("aclrtAllocatorSetFreeFuncToDesc", DESCRIPTION, 0),
        ("aclrtAllocatorSetAllocAdviseFuncToDesc", DESCRIPTION, 0),
        ("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", DESCRIPTION, 0),
        ("aclrtAllocatorRegister", STREAM, 0),
        ("aclrtAllocatorDestroyDesc", DESCRIPTION, 0),
        ("aclrtAllocatorUnregister", STREAM, 0),
        ("aclrtDestroyStream", STREAM, 0),
        ("aclrtResetDevice", 0, 0),
        ("aclFinalizeReference", 0, 0),
    ];
    follow(&script, |runtime| {
        let stream = Stream::new(&runtime.device(0)?.primary_context())?;
        stream.register_allocator(Arc::new(Counting::default()))
    });
}

#[test]
#[serial]
fn a_guest_asks_once_sets_what_it_needs_and_puts_back_what_was_there() {
    const THEIRS: usize = 0x7000;
    let script = [
        ("aclInit", 0, 0),
        ("aclrtSetDevice", 0, 0),
        ("aclrtGetCurrentContext", 0, PRIMARY),
        ("aclrtCreateContext", 0, CONTEXT),
        ("aclrtGetCurrentContext", 0, THEIRS),
        ("aclrtSetCurrentContext", CONTEXT, 0),
        ("aclrtCreateStream", 0, STREAM),
        ("aclrtSetCurrentContext", PRIMARY, 0),
        ("aclrtMalloc", 64, MEMORY),
        ("aclrtFree", MEMORY, 0),
        ("aclrtSetCurrentContext", CONTEXT, 0),
        ("aclrtDestroyStream", STREAM, 0),
        ("aclrtSetCurrentContext", THEIRS, 0),
        ("aclrtDestroyContext", CONTEXT, 0),
        ("aclrtResetDevice", 0, 0),
        ("aclFinalizeReference", 0, 0),
    ];
    follow(&script, |runtime| {
        let device = runtime.device(0)?;
        let (primary, context) = (device.primary_context(), device.create_context()?);
        as_guest(|| {
            let _stream = Stream::new(&context)?;
            DeviceMemory::allocate(&primary, 64, MallocPolicy::default()).map(drop)
        })
    });
}

//! Allocators that a program registers for a stream. Nothing here allocates from them: models are static.

use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use acl_sys::{
    aclrtAllocator, aclrtAllocatorAllocAdviseFunc, aclrtAllocatorAllocFunc, aclrtAllocatorDesc,
    aclrtAllocatorFreeFunc, aclrtAllocatorGetAddrFromBlockFunc, aclrtStream,
};
use parking_lot::Mutex;

use crate::context::current;
use crate::failure::Failure;
use crate::handles::{Handles, address, pointer};

/// What a descriptor holds.
#[derive(Debug, Clone, Copy, Default)]
struct Allocator {
    object: u64,
    alloc: aclrtAllocatorAllocFunc,
    free: aclrtAllocatorFreeFunc,
    advise: aclrtAllocatorAllocAdviseFunc,
    get_address: aclrtAllocatorGetAddrFromBlockFunc,
}

static DESCRIPTORS: Handles<Mutex<Allocator>> = Handles::new("allocator descriptor");

/// By stream: the descriptor as it was, and its handle.
static REGISTERED: Mutex<Option<HashMap<u64, (u64, Allocator)>>> = Mutex::new(None);

export! {
    fn aclrtAllocatorCreateDesc() -> aclrtAllocatorDesc, ptr::null_mut(), {
        Ok(pointer(DESCRIPTORS.insert(Mutex::default())))
    }

    fn aclrtAllocatorDestroyDesc(num description: aclrtAllocatorDesc) {
        DESCRIPTORS.remove(description).map(drop)
    }

    fn aclrtAllocatorSetObjToDesc(num description: aclrtAllocatorDesc, num allocator: aclrtAllocator) {
        descriptor(description)?.lock().object = allocator;
        Ok(())
    }

    fn aclrtAllocatorSetAllocFuncToDesc(num description: aclrtAllocatorDesc, val function: aclrtAllocatorAllocFunc) {
        descriptor(description)?.lock().alloc = function;
        Ok(())
    }

    fn aclrtAllocatorSetFreeFuncToDesc(num description: aclrtAllocatorDesc, val function: aclrtAllocatorFreeFunc) {
        descriptor(description)?.lock().free = function;
        Ok(())
    }

    fn aclrtAllocatorSetAllocAdviseFuncToDesc(
        num description: aclrtAllocatorDesc,
        val function: aclrtAllocatorAllocAdviseFunc,
    ) {
        descriptor(description)?.lock().advise = function;
        Ok(())
    }

    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
        num description: aclrtAllocatorDesc,
        val function: aclrtAllocatorGetAddrFromBlockFunc,
    ) {
        descriptor(description)?.lock().get_address = function;
        Ok(())
    }

    /// Copies the descriptor; a second registration replaces the first.
    fn aclrtAllocatorRegister(num stream: aclrtStream, num description: aclrtAllocatorDesc) {
        not_null(stream)?;
        current()?.stream(stream)?;
        let allocator = *descriptor(description)?.lock();
        let Allocator { object, alloc, free, get_address, .. } = allocator;
        if object == 0 || alloc.is_none() || free.is_none() || get_address.is_none() {
            return Err(Failure::invalid("the object, or one of the functions alloc, free and getAddr, is null"));
        }
        REGISTERED.lock().get_or_insert_default().insert(stream, (description, allocator));
        Ok(())
    }

    /// That of a stream without one is fine.
    fn aclrtAllocatorUnregister(num stream: aclrtStream) {
        not_null(stream)?;
        REGISTERED.lock().get_or_insert_default().remove(&stream);
        Ok(())
    }

    fn aclrtAllocatorGetByStream(
        num stream: aclrtStream,
        out description: *mut aclrtAllocatorDesc,
        out allocator: *mut aclrtAllocator,
        out alloc_function: *mut aclrtAllocatorAllocFunc,
        out free_function: *mut aclrtAllocatorFreeFunc,
        out advise_function: *mut aclrtAllocatorAllocAdviseFunc,
        out address_function: *mut aclrtAllocatorGetAddrFromBlockFunc,
    ) {
        not_null(stream)?;
        let registered = REGISTERED.lock().as_ref().and_then(|all| all.get(&stream).copied());
        let (handle, found) = registered.ok_or_else(|| Failure::invalid("the stream has no allocator"))?;
        description.set(pointer(handle));
        allocator.set(address(found.object));
        alloc_function.set(found.alloc);
        free_function.set(found.free);
        advise_function.set(found.advise);
        address_function.set(found.get_address);
        Ok(())
    }
}

fn descriptor(handle: u64) -> Result<Arc<Mutex<Allocator>>, Failure> {
    DESCRIPTORS.get(handle).map_err(|failure| failure.with_code(acl_sys::ACL_ERROR_INVALID_PARAM))
}

fn not_null(stream: u64) -> Result<(), Failure> {
    if stream == 0 { Err(Failure::invalid("the stream is null")) } else { Ok(()) }
}

pub(super) fn forget_stream(stream: u64) {
    REGISTERED.lock().get_or_insert_default().remove(&stream);
}

pub(super) fn describe_left() -> Vec<String> {
    DESCRIPTORS.describe_where(|_| true)
}

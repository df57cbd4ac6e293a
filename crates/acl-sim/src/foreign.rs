//! Everything that C hands over as a pointer, behind types with safe methods.
//!
//! # Invariants
//!
//! * A value of these types is made only by an `unsafe` constructor, whose caller (the macro of `export.rs`, for an
//!   exported function) has C's promise about the pointer.
//! * No reference is made to C's memory: it is copied from and to.

#![expect(unsafe_code, reason = "C's pointers are followed here, and nowhere else")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use acl_sys::{aclrtCallback, aclrtDeviceState, aclrtExceptionInfo, aclrtStream, aclrtStreamState};

use crate::failure::Failure;

/// Where C wants one answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    ///
    /// - `pointer` is null or points to memory that can take a `T` for as long as the value lives, and nobody else
    ///   uses that memory meanwhile.
    pub(crate) unsafe fn from_c(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// Fails with 100000 when C gave null.
    pub(crate) fn check(&self, name: &str) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::invalid(format!("{name} is null: give a place for the answer")));
        }
        Ok(())
    }

    /// Writes the answer; does nothing when C gave null.
    pub(crate) fn set(&self, value: T) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the pointer is not null, so it takes a `T` by the promise of `from_c`; unaligned places are allowed by
        // this write; nothing is dropped there.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// A struct that C gives for reading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// # Safety
    ///
    /// - `pointer` is null or points to a valid `T` for as long as the value lives, and nobody writes it meanwhile.
    /// - `T` is a struct of ACL: any bytes are a valid one.
    pub(crate) unsafe fn from_c(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// A copy; 100000 when C gave null.
    pub(crate) fn get(self, name: &str) -> Result<T, Failure> {
        if self.0.is_null() {
            return Err(Failure::invalid(format!("{name} is null")));
        }
        // SAFETY: the pointer is not null, so it points to a valid `T` by the promise of `from_c`.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// A struct that C gives for reading and that takes the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InOut<T>(*mut T);

impl<T: Copy> InOut<T> {
    /// # Safety
    ///
    /// - `pointer` is null or points to a valid `T` for as long as the value lives, and nobody else uses it meanwhile.
    /// - `T` is a struct of ACL: any bytes are a valid one.
    pub(crate) unsafe fn from_c(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// A copy; 100000 when C gave null.
    pub(crate) fn get(self, name: &str) -> Result<T, Failure> {
        In(self.0.cast_const()).get(name)
    }

    /// Writes the answer; does nothing when C gave null.
    pub(crate) fn set(self, value: T) {
        Out(self.0).set(value);
    }
}

/// A text that C gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// # Safety
    ///
    /// - `pointer` is null or points to bytes that end with a 0, for as long as the value lives, and nobody writes
    ///   them meanwhile.
    pub(crate) unsafe fn from_c(pointer: *const c_char) -> Self {
        Self(pointer)
    }

    /// A copy; `None` when C gave null.
    pub(crate) fn get(self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the pointer is not null, so it points to a terminated text by the promise of `from_c`; the reference
        // ends with this statement.
        let text = unsafe { CStr::from_ptr(self.0) };
        Some(text.to_string_lossy().into_owned())
    }
}

/// Puts a text into zeroed letters of an ACL struct, cut off so that the last one stays 0.
pub(crate) fn put_text(place: &mut [c_char], text: &[u8]) {
    let room = place.len().saturating_sub(1);
    for (place, &byte) in place.iter_mut().take(room).zip(text) {
        *place = c_char::from_ne_bytes([byte]);
    }
}

/// Bytes of the host that C lends, by address. They may be used on other threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostBytes {
    address: u64,
    length: usize,
}

impl HostBytes {
    /// # Safety
    ///
    /// - The `length` bytes at `address` are memory of this process, which stays readable (and writable, when
    ///   [`HostBytes::write`] is called) until the call that got them, or the stream on which it enqueued, is done.
    pub(crate) unsafe fn from_c(address: u64, length: usize) -> Self {
        Self { address, length }
    }

    fn at(self, offset: u64, length: usize) -> Option<*mut u8> {
        let offset = usize::try_from(offset).ok()?;
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.length);
        let address = usize::try_from(self.address).ok()?.checked_add(offset)?;
        inside.then(|| ptr::with_exposed_provenance_mut(address))
    }

    /// Copies out what lies `offset` bytes behind the start; does nothing past the end.
    pub(crate) fn read(self, offset: u64, part: &mut [u8]) {
        let Some(from) = self.at(offset, part.len()) else { return };
        // SAFETY: `at` checked that the bytes lie inside, so they are readable by the promise of `from_c`; `part` is
        // memory of Rust's own and exclusive. `copy` allows that C gave an address inside it.
        unsafe { ptr::copy(from.cast_const(), part.as_mut_ptr(), part.len()) }
    }

    /// Copies `part` in, `offset` bytes behind the start; does nothing past the end.
    pub(crate) fn write(self, offset: u64, part: &[u8]) {
        let Some(to) = self.at(offset, part.len()) else { return };
        // SAFETY: `at` checked that the bytes lie inside, so they are writable by the promise of `from_c`.
        unsafe { ptr::copy(part.as_ptr(), to, part.len()) }
    }

    pub(crate) fn to_vec(self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        self.read(0, &mut bytes);
        bytes
    }
}

/// A function of C's with what it wants to get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserFunction {
    function: unsafe extern "C" fn(*mut c_void),
    data: u64,
}

impl UserFunction {
    /// 100000 when C gave null.
    ///
    /// # Safety
    ///
    /// - `function` may be called once with `data`, on any thread, until the stream that it was enqueued on is done.
    pub(crate) unsafe fn from_c(function: aclrtCallback, data: *mut c_void) -> Result<Self, Failure> {
        let function = function.ok_or_else(|| Failure::invalid("the function is null"))?;
        Ok(Self { function, data: data.expose_provenance() as u64 })
    }

    pub(crate) fn call(self) {
        let data = crate::handles::address(self.data);
        // SAFETY: the promise of `from_c`.
        unsafe { (self.function)(data) }
    }
}

/// A function of C's that is told of streams or devices that come and go, with what it wants to get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watcher<F> {
    function: F,
    data: u64,
}

impl<F> Watcher<F> {
    /// # Safety
    ///
    /// - `function` may be called with `data`, on any thread and several at once, until it is taken away again.
    pub(crate) unsafe fn from_c(function: F, data: *mut c_void) -> Self {
        Self { function, data: data.expose_provenance() as u64 }
    }
}

/// Is told of streams.
pub(crate) type StreamWatcher = Watcher<unsafe extern "C" fn(aclrtStream, aclrtStreamState, *mut c_void)>;

/// Is told of devices.
pub(crate) type DeviceWatcher = Watcher<unsafe extern "C" fn(i32, aclrtDeviceState, *mut c_void)>;

/// Is told of tasks that fail.
pub(crate) type ExceptionWatcher = Watcher<unsafe extern "C" fn(*mut aclrtExceptionInfo)>;

impl ExceptionWatcher {
    pub(crate) fn call(&self, info: u64) {
        // SAFETY: the promise of `from_c`.
        unsafe { (self.function)(crate::handles::pointer(info)) }
    }
}

impl StreamWatcher {
    pub(crate) fn call(&self, stream: u64, state: aclrtStreamState) {
        let data = crate::handles::address(self.data);
        // SAFETY: the promise of `from_c`.
        unsafe { (self.function)(crate::handles::pointer(stream), state, data) }
    }
}

impl DeviceWatcher {
    pub(crate) fn call(&self, device: i32, state: aclrtDeviceState) {
        let data = crate::handles::address(self.data);
        // SAFETY: the promise of `from_c`.
        unsafe { (self.function)(device, state, data) }
    }
}

unsafe extern "C" {
    safe fn pthread_self() -> u64;
}

/// The number by which C's thread library, and so ACL, knows the calling thread.
pub(crate) fn thread_number() -> u64 {
    // `pthread_t` is an unsigned long on Linux with glibc and musl.
    pthread_self()
}

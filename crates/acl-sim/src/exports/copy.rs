//! Copies and fills.

use std::ffi::c_void;

use acl_sys::{aclrtMemcpyKind, aclrtStream};

use crate::context::current;
use crate::transfer::{Fill, Request};

export! {
    /// The kind is checked against the addresses, which decide.
    fn aclrtMemcpy(
        num destination: *mut c_void,
        val destination_size: usize,
        num source: *const c_void,
        val count: usize,
        val kind: aclrtMemcpyKind,
    ) {
        let request = Request {
            to: destination,
            to_bytes: host_bytes!(destination, count),
            to_room: destination_size,
            from: source,
            from_bytes: host_bytes!(source, count),
            count,
            kind,
        };
        request.run(&current()?)
    }

    /// Pageable sources are read at once, pageable destinations waited for; pinned memory is used when the copy runs.
    fn aclrtMemcpyAsync(
        num destination: *mut c_void,
        val destination_size: usize,
        num source: *const c_void,
        val count: usize,
        val kind: aclrtMemcpyKind,
        num stream: aclrtStream,
    ) {
        let request = Request {
            to: destination,
            to_bytes: host_bytes!(destination, count),
            to_room: destination_size,
            from: source,
            from_bytes: host_bytes!(source, count),
            count,
            kind,
        };
        let current = current()?;
        let stream = current.stream(stream)?;
        request.enqueue(&current, &stream)
    }

    fn aclrtMemset(num address: *mut c_void, val size: usize, val value: i32, val count: usize) {
        let fill = Fill { to: address, room: size, value, count, bytes: host_bytes!(address, count) };
        fill.run(&current()?)
    }

    fn aclrtMemsetAsync(
        num address: *mut c_void,
        val size: usize,
        val value: i32,
        val count: usize,
        num stream: aclrtStream,
    ) {
        let fill = Fill { to: address, room: size, value, count, bytes: host_bytes!(address, count) };
        let current = current()?;
        let stream = current.stream(stream)?;
        fill.enqueue(&current, &stream)
    }
}

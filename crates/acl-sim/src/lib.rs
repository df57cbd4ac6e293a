//! A simulated Ascend runtime: the functions of `libascendcl.so` over host memory, for programs and tests without an
//! NPU.
//!
//! The crate is built as a shared library. `cargo xtask sim DIR` lays it out as an installation of CANN would:
//! `DIR/lib64/libascendcl.so`, the other names of it (`libacl_rt.so`, `libacl_rt_impl.so`, `libacl_mdl.so`) and
//! `DIR/include/acl`. Memory, streams and events are those of `host-device`; what was enqueued really runs behind
//! the caller.
//!
//! # Environment, read by each first `aclInit`
//!
//! | Variable | Value | Default |
//! | --- | --- | --- |
//! | `ASCEND_SIM_VERSION` | `8.5`, `9.1` or `9.2`: what is younger answers 207000 | `9.1` |
//! | `ASCEND_SIM_DEVICES` | number of devices, 1 to 64 | `1` |
//! | `ASCEND_SIM_CAPACITY` | memory of each, such as `8GiB` | `32GiB` |
//! | `ASCEND_SIM_FOREIGN_USE` | what other processes hold of it | `0` |
//! | `ASCEND_SIM_FAIL` | `CALL:N` or `CALL:N:CODE`, several with commas: the N-th call fails, with `N+` all later too | none |
//! | `ASCEND_SIM_FAIL_TASK` | the same, for what the calls enqueue: it fails when it runs | none |
//! | `ASCEND_SIM_LATENCY` | `CALL:TIME`, several with commas, such as `aclrtMalloc:200us` | none |
//! | `ASCEND_SIM_COPY_GRACE` | how long a synchronous copy or fill lets queued work go on first, such as `20ms` | `0s` |
//! | `ASCEND_SIM_HAZARDS` | a file to which reports of misused memory are appended, one a line | none |
//! | `ASCEND_SIM_LEFTOVERS` | a file to which is appended what a program has not given back by a reset or the end | none |
//!
//! A wrong value makes `aclInit` fail with 100000 and a text that names the variable and what it takes. A failing
//! call without a code answers 207001 where it would take memory, 507899 elsewhere; a failing task 507035. The time of
//! a call that enqueues (`aclrtMemcpyAsync`, `aclrtMemsetAsync`, `aclmdlExecuteAsync`) passes on the stream, that of
//! others in the call.
//!
//! # Contract
//!
//! * Every function has the type of its declaration in `acl-sys`, which the compiler checks. No panic crosses into C:
//!   it becomes 500000. Nothing is printed; the text of a failure is what `aclGetRecentErrMsg` answers, on its
//!   thread.
//! * Handles are numbers that are looked up, never pointers that are followed, so a wrong one is an error (107017).
//! * A static library of symbols cannot lack some by version: a call that the chosen version has not is 207000.
//! * Before `aclInit` only the number of devices, the name of the chip, the mode of running and versions are answered,
//!   which clients ask for; all else is 100001.
//! * A synchronous copy or fill starts at once, whatever is queued: CANN orders the two in no way. For a program that
//!   counts on its luck here, `ASCEND_SIM_COPY_GRACE` lets queued work go on for a while before; it is no order either.
//! * Memory of two devices is copied only after `aclrtDeviceEnablePeerAccess` in one of the directions, mapped memory
//!   only asynchronously; else 107000.
//! * Settings that only kernels would feel (determinism, saturation, cores, overflow switches) are checked, kept and
//!   answered; longest runs, which ACL never answers again, are taken.
//! * Where memory is used on a stream after it was freed, or after somebody else got it, both places are reported in
//!   the error text of the next call and in the file of `ASCEND_SIM_HAZARDS`. So is memory of a stream-ordered pool
//!   that is handed out before work on it is done, which CANN does when it was freed on another stream than its own.
//!
//! # Models
//!
//! A model is a text; see `model_text.rs`. Running it takes the time it says, reads its inputs and weights, and sets
//! each byte of output `i` to the wrapping sum of all bytes of all inputs, plus `i`.
//!
//! # Limits
//!
//! * Kernels, dumps and memory handles of other processes answer 207000, since clients link to their functions. Graph
//!   capture, labels, other IPC, managed and registered memory, copies in two dimensions or in batches, model bundles,
//!   dynamic shapes and configurations of models are absent: so are their symbols.
//! * A wait of a stream for an event or a notification has no timeout: it waits on. A task fails only as planned;
//!   callbacks for threads that a program lends cannot.
//! * Access rights of mapped memory, page policies (but for their sizes) and attributes of allocations are not
//!   enforced.
//! * The weights of a model are memory that it reads, without values that matter.

#[macro_use]
mod export;

mod call;
mod context;
mod device;
mod exports;
mod failure;
mod foreign;
mod half;
mod handles;
mod leftovers;
mod model_text;
mod options;
mod reports;
mod runtime;
mod settings;
mod stream_pool;
mod tasks;
mod thread_state;
mod transfer;
mod watchers;

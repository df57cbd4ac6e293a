//! Raw declarations of the Ascend Computing Language (ACL), the C interface of CANN, loaded at run time.
//!
//! Nothing is linked: a program built with this crate starts on a machine without CANN and learns from [`load`] that there
//! is none. ACL's functions are the fields of a [`Table`]; one that the library at hand does not have is [`Unsupported`],
//! an ordinary error. The safe layer above is another crate; this one says what C says and no more.
//!
//! ```
//! match acl_sys::load() {
//!     Ok(library) => {
//!         let models = library.table().aclmdlLoadFromFileWithMem();
//!         println!("{:?}, models: {}", library.files(), models.is_ok());
//!     }
//!     // Says every place that was tried, and why each did not serve.
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! # Contract
//!
//! * Types, constants and functions are generated from our own C headers, in `headers/`, by `cargo xtask bindgen`, and
//!   committed. `cargo xtask check-headers` compares the headers with the vendor's; the last results stand in
//!   `HEADERS-CHECKED.md`. Sizes and offsets of structs are checked again by the compiler in each build.
//! * Enumerations are open: a newtype over an integer with constants, so that a value of a newer CANN is no undefined
//!   behaviour. [`aclError`] is a plain integer, and the `ACL_ERROR_…` constants have its type.
//! * Every struct has a `Default` in which all is zero or null, as `= {0}` in C.
//! * Which thread, context or order a call needs is CANN's business and is documented there.
//!
//! # Limits
//!
//! What a memory pool, its tests and a server of several models need, and what the simulated runtime answers to
//! `torch_npu`. Graph capture, labels, queues, profiling, launches of kernels and image preprocessing are not declared,
//! nor is `aclAppLog`, whose parameters vary. Only for 64-bit Linux.

#[macro_use]
mod table;

#[rustfmt::skip]
#[expect(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::unreadable_literal,
    clippy::use_self,
    clippy::doc_markdown,
    reason = "generated; the names are those of the interface"
)]
mod bindings;

mod defaults;
mod load;
mod machine;

pub use bindings::*;
pub use load::{Attempt, LIBRARY_VARIABLE, Library, LoadError, Origin, Reason, load, load_from};
pub use machine::Machine;
pub use table::{CannVersion, REQUIRED, Unsupported, first_version};

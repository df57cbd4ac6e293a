//! The table of ACL's functions, one optional pointer each, and what is known of them: which a library must have, and
//! with which CANN each appeared.
//!
//! # Invariants
//!
//! 1. A field of a [`Table`] that came from a library points to the function of that name in a library that is never
//!    closed.
//! 2. Every symbol of [`REQUIRED`] and of the list of versions is a field of the table (a test holds this).

use std::fmt;

use crate::Table;

/// Declares the functions of ACL: their types, the table, and the look-up by name.
///
/// `bindings.rs` is one call of this macro, made from the C headers.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// The type of each function, under its own name.
        ///
        /// An implementation of ACL checks itself against it: `const _: signatures::aclrtFree = my_free;`.
        pub mod signatures {
            use super::*;

            $($(#[$doc])* pub type $name = unsafe extern "C" fn($($argument: $type),*) $(-> $result)?;)*
        }

        /// The functions of ACL; `None` where the library has no such symbol.
        ///
        /// The method of a function answers its pointer or [`Unsupported`](crate::Unsupported), so that a missing symbol
        /// is an ordinary error. A table for tests starts from [`Table::EMPTY`]:
        ///
        /// ```
        /// use acl_sys::{ACL_SUCCESS, Table, aclError};
        ///
        /// extern "C" fn finalize() -> aclError {
        ///     ACL_SUCCESS
        /// }
        ///
        /// let table = Table { aclFinalize: Some(finalize), ..Table::EMPTY };
        /// assert!(table.aclFinalize().is_ok());
        /// assert!(table.aclrtMemPoolCreate().is_err());
        /// ```
        #[derive(Clone, Copy)]
        pub struct Table {
            $($(#[$doc])* pub $name: Option<signatures::$name>,)*
        }

        impl Table {
            /// A table in which nothing is supported.
            pub const EMPTY: Self = Self { $($name: None,)* };

            /// All names, in the order of the headers.
            pub const SYMBOLS: &'static [&'static str] = &[$(stringify!($name)),*];

            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                /// [`Unsupported`](crate::Unsupported) when the library has no such symbol.
                #[inline]
                pub fn $name(&self) -> Result<signatures::$name, crate::Unsupported> {
                    self.$name.ok_or(crate::Unsupported { symbol: stringify!($name) })
                }
            )*

            /// Whether the table has the function of that name; false for a name that is none of ACL's. O(1) in
            /// practice: a match over the names.
            pub fn is_supported(&self, symbol: &str) -> bool {
                match symbol {
                    $(stringify!($name) => self.$name.is_some(),)*
                    _ => false,
                }
            }

            /// The same without the function of that name, as an older library has it; for tests. A name that is none of
            /// ACL's changes nothing.
            #[must_use]
            pub fn without(mut self, symbol: &str) -> Self {
                match symbol {
                    $(stringify!($name) => self.$name = None,)*
                    _ => {}
                }
                self
            }

            /// Takes from `library` what the table does not have yet.
            ///
            /// # Safety
            ///
            /// - Every symbol of `library` that has the name of one of ACL's functions has its C signature too.
            /// - `library` is never closed.
            pub(crate) unsafe fn fill_from(&mut self, library: &libloading::Library) {
                $(
                    if self.$name.is_none() {
                        // SAFETY: `Option<fn>` is the pointer of dlsym with null as `None`; that the symbol has this
                        // signature is the caller's promise. The pointer is used after the `Symbol` is gone, which is
                        // sound because the caller never closes the library.
                        let symbol = unsafe {
                            library.get::<Option<signatures::$name>>(concat!(stringify!($name), "\0"))
                        };
                        self.$name = symbol.ok().and_then(|symbol| *symbol);
                    }
                )*
            }
        }
    };
}

/// Symbols without which a library is not taken for ACL: everything else is optional.
pub const REQUIRED: &[&str] = &[
    "aclInit",
    "aclFinalize",
    "aclrtSetDevice",
    "aclrtResetDevice",
    "aclrtGetDeviceCount",
    "aclrtCreateContext",
    "aclrtDestroyContext",
    "aclrtSetCurrentContext",
    "aclrtCreateStream",
    "aclrtDestroyStream",
    "aclrtSynchronizeStream",
    "aclrtDestroyEvent",
    "aclrtRecordEvent",
    "aclrtMalloc",
    "aclrtFree",
    "aclrtMemcpy",
    "aclrtGetMemInfo",
];

/// Symbols that appeared after CANN 8.5, by the public tags of its headers.
const LATER: &[(CannVersion, &[&str])] = &[
    (
        CannVersion::V9_0,
        &[
            "aclmdlBundleCreateQueryInfo",
            "aclmdlBundleDestroyQueryInfo",
            "aclmdlBundleGetQueryModelNum",
            "aclmdlBundleGetSize",
            "aclmdlBundleGetVarWeightSize",
            "aclmdlBundleInitFromFile",
            "aclmdlBundleInitFromMem",
            "aclmdlBundleLoadModel",
            "aclmdlBundleLoadModelWithConfig",
            "aclmdlBundleLoadModelWithMem",
            "aclmdlBundleQueryInfoFromFile",
            "aclmdlBundleQueryInfoFromMem",
            "aclmdlBundleUnloadModel",
            "aclrtGetArgsFromExceptionInfo",
            "aclrtGetFuncHandleFromExceptionInfo",
            "aclrtHostMemMapCapabilities",
            "aclrtMemAllocManaged",
            "aclrtMemGetAddressRange",
            "aclrtMemP2PMap",
            "aclrtMemPoolCreate",
            "aclrtMemPoolDestroy",
            "aclrtMemPoolGetAttr",
            "aclrtMemPoolSetAttr",
            "aclrtReserveMemAddressNoUCMemory",
        ],
    ),
    (
        CannVersion::V9_1,
        &[
            "aclrtMemManagedAdvise",
            "aclrtMemManagedGetAttr",
            "aclrtMemManagedGetAttrs",
            "aclrtMemManagedPrefetchAsync",
            "aclrtMemManagedPrefetchBatchAsync",
            "aclrtMemMapSelectedLink",
            "aclrtMemPoolFreeAsync",
            "aclrtMemPoolMallocAsync",
            "aclrtMemPoolTrimTo",
            "aclrtMemcpyBatchAsyncV2",
            "aclrtMemcpyBatchV2",
            "aclrtMemsetD32",
            "aclrtMemsetD32Async",
        ],
    ),
    (CannVersion::V9_2, &["aclrtMemMapNoAccess", "aclrtRecordEventWithFlag", "aclrtStreamWaitEventWithFlag"]),
];

/// A release of CANN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CannVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl CannVersion {
    /// CANN 8.5, the oldest whose headers are public; what it has may be older.
    pub const V8_5: Self = Self { major: 8, minor: 5 };
    /// CANN 9.0.
    pub const V9_0: Self = Self { major: 9, minor: 0 };
    /// CANN 9.1.
    pub const V9_1: Self = Self { major: 9, minor: 1 };
    /// CANN 9.2.
    pub const V9_2: Self = Self { major: 9, minor: 2 };
}

impl fmt::Display for CannVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The CANN with which a function appeared, [`CannVersion::V8_5`] standing for that version and all before it; `None` for
/// a name that is none of ACL's.
///
/// ```
/// use acl_sys::{CannVersion, first_version};
/// assert_eq!(first_version("aclrtMalloc"), Some(CannVersion::V8_5));
/// assert_eq!(first_version("aclrtMemPoolMallocAsync"), Some(CannVersion::V9_1));
/// assert_eq!(first_version("malloc"), None);
/// ```
pub fn first_version(symbol: &str) -> Option<CannVersion> {
    let later = LATER.iter().find(|(_, symbols)| symbols.contains(&symbol)).map(|&(version, _)| version);
    later.or_else(|| Table::SYMBOLS.contains(&symbol).then_some(CannVersion::V8_5))
}

impl Table {
    /// Names of the functions that the table does not have, in the order of the headers.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> + '_ {
        Self::SYMBOLS.iter().copied().filter(|symbol| !self.is_supported(symbol))
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing: Vec<_> = self.missing().collect();
        f.debug_struct("Table")
            .field("supported", &(Self::SYMBOLS.len() - missing.len()))
            .field("missing", &missing)
            .finish()
    }
}

/// The library at hand has no such function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the loaded ACL library has no {symbol}{}", known_since(symbol))]
pub struct Unsupported {
    /// The function that is missing.
    pub symbol: &'static str,
}

/// What to do about a missing symbol, as the end of a sentence.
fn known_since(symbol: &str) -> String {
    match first_version(symbol) {
        Some(version) if version > CannVersion::V8_5 => {
            format!(", which CANN has since {version}; update CANN")
        }
        Some(_) => ", which CANN 8.5 has; update CANN, or load another of its libraries".to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{ACL_SUCCESS, aclError};

    extern "C" fn finalize() -> aclError {
        ACL_SUCCESS
    }

    #[test]
    fn every_symbol_that_is_listed_is_in_the_table_once() {
        let symbols: BTreeSet<_> = Table::SYMBOLS.iter().copied().collect();
        assert_eq!(symbols.len(), Table::SYMBOLS.len());
        let later: Vec<_> = LATER.iter().flat_map(|(_, symbols)| symbols.iter().copied()).collect();
        assert_eq!(later.iter().collect::<BTreeSet<_>>().len(), later.len(), "a symbol has two versions");
        for symbol in REQUIRED.iter().chain(&later) {
            assert!(symbols.contains(symbol), "{symbol} is not in the headers");
        }
        for symbol in REQUIRED {
            assert!(!later.contains(symbol), "{symbol} is required, so every version must have it");
        }
    }

    #[test]
    fn a_table_from_a_struct_has_what_was_put_in_and_nothing_else() {
        let table = Table { aclFinalize: Some(finalize), ..Table::EMPTY };
        assert!(table.is_supported("aclFinalize"));
        assert!(!table.is_supported("aclInit"));
        assert!(!table.is_supported("nothing"));
        assert_eq!(table.missing().count(), Table::SYMBOLS.len() - 1);
        let put_in: crate::signatures::aclFinalize = finalize;
        assert!(table.aclFinalize().is_ok_and(|found| std::ptr::fn_addr_eq(found, put_in)));
        assert!(table.without("aclInit").is_supported("aclFinalize"));
        assert_eq!(table.without("aclFinalize").missing().count(), Table::SYMBOLS.len());
    }

    #[test]
    fn a_missing_function_is_an_error_that_names_it_and_its_version() {
        let error = Table::EMPTY.aclrtMemPoolTrimTo().expect_err("the table is empty");
        assert_eq!(error, Unsupported { symbol: "aclrtMemPoolTrimTo" });
        assert!(error.to_string().contains("since 9.1"), "{error}");
        let error = Table::EMPTY.aclrtMalloc().expect_err("the table is empty");
        assert!(error.to_string().contains("aclrtMalloc"), "{error}");
    }

    #[test]
    fn debug_lists_what_is_missing_and_no_addresses() {
        let text = format!("{:?}", Table { aclFinalize: Some(finalize), ..Table::EMPTY });
        assert!(text.contains("supported: 1,") && text.contains("\"aclInit\""), "{text}");
        assert!(!text.contains("0x") && !text.contains("\"aclFinalize\""), "{text}");
    }
}

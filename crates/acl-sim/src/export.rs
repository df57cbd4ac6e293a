//! The macro that makes exported functions: their C side is here, their bodies are safe code elsewhere.
//!
//! Each parameter says how it is taken: `val` as it is, `out` as [`Out`], `input` as [`In`], `inout` as [`InOut`], `text` as
//! [`Text`],
//! `num` as the number of a pointer that is not followed, `function` with the next, its data, as [`UserFunction`].
//!
//! [`Out`]: crate::foreign::Out
//! [`In`]: crate::foreign::In
//! [`InOut`]: crate::foreign::InOut
//! [`Text`]: crate::foreign::Text
//! [`UserFunction`]: crate::foreign::UserFunction

/// Takes a parameter as its word says.
macro_rules! take {
    (val $argument:ident) => {
        $argument
    };
    (num $argument:ident) => {
        $argument.expose_provenance() as u64
    };
    (out $argument:ident) => {
        // SAFETY: ACL's contract for this parameter, which the caller of the exported `unsafe` function keeps: null or
        // a place for the answer that stays until the call returns.
        unsafe { $crate::foreign::Out::from_c($argument) }
    };
    (input $argument:ident) => {
        // SAFETY: ACL's contract for this parameter, which the caller of the exported `unsafe` function keeps: null or
        // a struct of ACL that stays until the call returns.
        unsafe { $crate::foreign::In::from_c($argument) }
    };
    (inout $argument:ident) => {
        // SAFETY: ACL's contract for this parameter, which the caller of the exported `unsafe` function keeps: null or
        // a struct of ACL that stays, for this call alone, until it returns.
        unsafe { $crate::foreign::InOut::from_c($argument) }
    };
    (text $argument:ident) => {
        // SAFETY: ACL's contract for this parameter, which the caller of the exported `unsafe` function keeps: null or
        // a terminated text that stays until the call returns.
        unsafe { $crate::foreign::Text::from_c($argument) }
    };
}

/// A range of host memory that an exported function got and classified as none of the device's.
macro_rules! host_bytes {
    ($address:expr, $length:expr) => {{
        let (address, length) = ($address, $length);
        // SAFETY: ACL's contract for the addresses of copies and of models in memory, which the caller of the exported
        // `unsafe` function keeps: so many bytes of the host, until the call (or the stream it enqueues on) is done.
        unsafe { $crate::foreign::HostBytes::from_c(address, length) }
    }};
}

/// A function of C's with its data.
macro_rules! user_function {
    ($function:expr, $data:expr) => {{
        let (function, data) = ($function, $data);
        // SAFETY: ACL's contract for callbacks, which the caller of the exported `unsafe` function keeps: the function
        // can be called with its data until the stream is done.
        unsafe { $crate::foreign::UserFunction::from_c(function, data) }
    }};
}

/// A function of C's that is told of streams or devices, with its data; `None` when C gave no function.
macro_rules! watcher {
    ($function:expr, $data:expr) => {{
        let (function, data) = ($function, $data);
        // SAFETY: ACL's contract for such functions, which the caller of the exported `unsafe` function keeps: it can be
        // called with its data until it is taken away by its name.
        function.map(|function| unsafe { $crate::foreign::Watcher::from_c(function, data) })
    }};
}

/// Makes exported functions. A body is the inside of a closure that answers `Result<(), Failure>`, or, with `-> type,
/// value`, `Result<type, Failure>`, the value being the answer of a failure.
///
/// `variadic fn` makes one that C declares with further parameters, which stable Rust cannot: it takes those that have
/// names, which lie where the calling conventions of 64-bit Linux put them, and never looks at the others. `acl-sys` does
/// not declare it, so nothing checks its type.
macro_rules! export {
    ($(#[$meta:meta])* variadic fn $name:ident($($mode:ident $argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        #[expect(unsafe_code, reason = "an exported function of C; the proofs stand in export.rs")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) {
            $(let $argument = take!($mode $argument);)*
            $crate::call::value(stringify!($name), (), move || $body)
        }
    };
    ($($(#[$meta:meta])* fn $name:ident($($mode:ident $argument:ident: $type:ty),* $(,)?)
        $(-> $result:ty, $otherwise:expr,)? $body:block)*) => {
        $(export! { @one [$(#[$meta])*] $name ($($mode $argument: $type),*) [$($result, $otherwise)?] $body })*
    };
    (@one [$(#[$meta:meta])*] $name:ident ($($mode:ident $argument:ident: $type:ty),*) [] $body:block) => {
        $(#[$meta])*
        #[expect(unsafe_code, reason = "an exported function of C; the proofs stand in export.rs")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> ::acl_sys::aclError {
            $(let $argument = take!($mode $argument);)*
            $crate::call::status(stringify!($name), move || $body)
        }
        const _: ::acl_sys::signatures::$name = $name;
    };
    (@one [$(#[$meta:meta])*] $name:ident ($($mode:ident $argument:ident: $type:ty),*)
        [$result:ty, $otherwise:expr] $body:block) => {
        $(#[$meta])*
        #[expect(unsafe_code, reason = "an exported function of C; the proofs stand in export.rs")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            $(let $argument = take!($mode $argument);)*
            $crate::call::value(stringify!($name), $otherwise, move || $body)
        }
        const _: ::acl_sys::signatures::$name = $name;
    };
}

//! The crate as C sees it: its headers compiled, and libraries written in C loaded.
#![expect(unsafe_code, reason = "functions of a C library are called")]
#![cfg(test)]

mod compiler;
mod headers;
mod loading;

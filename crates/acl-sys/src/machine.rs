//! For which processor a library was built.
//!
//! The system skips a library of another processor, and then says that there is no such file. CANN comes for two processors,
//! so this is a mistake that people make, and it has words of its own here.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// A processor, by its number in the head of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine(pub u16);

impl Machine {
    /// That of most servers.
    pub const X86_64: Self = Self(62);
    /// That of Kunpeng, and of the cards themselves.
    pub const AARCH64: Self = Self(183);

    /// The one for which this program was built; `None` where CANN does not exist anyway.
    pub(crate) fn of_this_program() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::AARCH64),
            _ => None,
        }
    }

    /// The one for which a library was built; `None` where the file is none, or none of 64 bits.
    pub(crate) fn of_library(file: &Path) -> Option<Self> {
        let mut head = [0; 20];
        File::open(file).ok()?.read_exact(&mut head).ok()?;
        Self::of_head(&head)
    }

    fn of_head(head: &[u8; 20]) -> Option<Self> {
        // The mark, 64 bits, and the order of bytes in which all of CANN's machines write the number.
        head.starts_with(b"\x7fELF\x02\x01").then(|| Self(u16::from_le_bytes([head[18], head[19]])))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::X86_64 => f.write_str("x86-64"),
            Self::AARCH64 => f.write_str("aarch64"),
            Self(number) => write!(f, "a processor with the ELF number {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_for_the_machine_of_its_own_file() {
        let file = std::env::current_exe().expect("tests have a file");
        assert_eq!(Machine::of_library(&file), Machine::of_this_program());
    }

    #[test]
    fn only_a_library_of_64_bits_has_a_machine() {
        let mut head = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\xb7\0";
        assert_eq!(Machine::of_head(&head), Some(Machine::AARCH64));
        head[4] = 1;
        assert_eq!(Machine::of_head(&head), None);
        assert_eq!(Machine::of_head(b"#!/bin/sh and so on."), None);
    }
}

//! The library of the simulator that cargo built beside the tests, since the crate is a dependency of them. Also used by the tests of
//! the programs.

use std::path::{Path, PathBuf};

/// Where it is.
pub(crate) fn simulator() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let library = test.parent().expect("the test lies in a folder").join("libascendcl.so");
    assert!(library.exists(), "no {}", library.display());
    library
}

/// Writes a library that lacks these functions, as an older CANN or another would.
pub(crate) fn write_without(missing: &[&str], path: &Path) {
    let mut library = std::fs::read(simulator()).expect("the simulator can be read");
    for symbol in missing {
        rename(&mut library, symbol);
    }
    std::fs::write(path, library).expect("a temporary file can be written");
}

/// Changes the name of a symbol in the table of names of a library, so that a look-up by its name finds nothing.
fn rename(library: &mut [u8], symbol: &str) {
    let name = [b"\0", symbol.as_bytes(), b"\0"].concat();
    let at = library.windows(name.len()).position(|window| window == name);
    let at = at.unwrap_or_else(|| panic!("{symbol} is not in the library"));
    library[at + symbol.len()] = b'?';
}

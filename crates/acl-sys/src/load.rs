//! Finding ACL's library, opening it, and taking its functions.
//!
//! # Where it is looked for
//!
//! 1. [`LIBRARY_VARIABLE`], a file or a folder. If it is set, nothing else is tried: a choice is not replaced in silence.
//! 2. `$ASCEND_HOME_PATH/lib64`, which CANN's own `set_env.sh` sets.
//! 3. The places where CANN installs itself.
//! 4. Where the system looks for libraries.
//!
//! # Which files
//!
//! `libascendcl.so` is the old name of everything; in a newer CANN the functions live in `libacl_rt.so` and the models in
//! `libacl_mdl.so`. Of one folder, all three are asked in this order, each only for what is still missing.
//!
//! # Invariants
//!
//! 1. A library that has been opened is never closed, whatever happens afterwards: its threads and exit handlers outlive
//!    any owner of ours, and the pointers of a [`Table`] point into it.
//! 2. [`load`] succeeds at most once in a process; all callers share the result.
#![expect(unsafe_code, reason = "dlopen runs foreign code")]

use std::ffi::OsString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::{Machine, REQUIRED, Table};

/// The environment variable that names the library, or its folder.
pub const LIBRARY_VARIABLE: &str = "ASCEND_MEMPOOL_ACL_LIBRARY";

/// CANN's own variable for the folder of its installation.
const HOME_VARIABLE: &str = "ASCEND_HOME_PATH";

/// The files of one folder, in the order in which they are asked.
const FILES: [&str; 3] = ["libascendcl.so", "libacl_rt.so", "libacl_mdl.so"];

/// Folders in which CANN installs itself: the toolkit, its successor, and the two packages for running only.
const DEFAULT_FOLDERS: [&str; 4] = [
    "/usr/local/Ascend/ascend-toolkit/latest/lib64",
    "/usr/local/Ascend/cann/lib64",
    "/usr/local/Ascend/nnrt/latest/lib64",
    "/usr/local/Ascend/nnae/latest/lib64",
];

/// The library of this process, once found.
static LOADED: OnceLock<Library> = OnceLock::new();

/// ACL's functions, and the files they came from.
#[derive(Debug)]
pub struct Library {
    table: Table,
    files: Vec<PathBuf>,
    not_opened: Vec<Attempt>,
}

impl Library {
    /// A library made of a table, for tests.
    pub fn from_table(table: Table) -> Self {
        Self { table, files: Vec::new(), not_opened: Vec::new() }
    }

    /// The functions.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The files that were opened, in the order in which they were asked; empty for a table of a test.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Files beside those that could not be opened. When a function is missing, the reason may stand here.
    pub fn not_opened(&self) -> &[Attempt] {
        &self.not_opened
    }

    /// Whether the library has the function of that name.
    pub fn is_supported(&self, symbol: &str) -> bool {
        self.table.is_supported(symbol)
    }

    /// Names of the functions that the library does not have.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.table.missing()
    }
}

/// One file or folder that was tried, and why it did not serve.
#[derive(Debug)]
pub struct Attempt {
    /// What was tried; a bare name was left to the system's search.
    pub path: PathBuf,
    /// Why there.
    pub origin: Origin,
    /// Why it did not serve.
    pub reason: Reason,
}

/// Why a place was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The caller of [`load_from`] named it.
    Caller,
    /// [`LIBRARY_VARIABLE`] names it.
    LibraryVariable,
    /// `ASCEND_HOME_PATH` names it.
    HomeVariable,
    /// CANN installs itself there.
    DefaultFolder,
    /// The system looks there.
    SystemSearch,
}

/// Why a file or folder did not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// There is nothing of that name.
    #[error("is not there")]
    NotThere,
    /// The system could not open it; its text says why.
    #[error("cannot be opened: {}", words(.0))]
    CannotOpen(#[source] libloading::Error),
    /// It is a library for another processor.
    #[error("is for {theirs}, and this program for {ours}; install the CANN for {ours}")]
    OtherMachine {
        /// The library's.
        theirs: Machine,
        /// This program's.
        ours: Machine,
    },
    /// It was opened, but has not all that makes it ACL.
    #[error("is no ACL library: it lacks {}", .missing.join(", "))]
    NotAcl {
        /// Those of [`REQUIRED`] that it lacks.
        missing: Vec<&'static str>,
    },
}

/// Why the system did not open a file.
fn why_not_opened(file: &Path, error: libloading::Error) -> Reason {
    // A bare name is not a path of ours to look at.
    let theirs = file.is_absolute().then(|| Machine::of_library(file)).flatten();
    match (theirs, Machine::of_this_program()) {
        (Some(theirs), Some(ours)) if theirs != ours => Reason::OtherMachine { theirs, ours },
        _ => Reason::CannotOpen(error),
    }
}

/// The system's own words, which libloading keeps as the source of an error that says nothing by itself.
fn words(error: &libloading::Error) -> String {
    let outer: &dyn std::error::Error = error;
    std::iter::successors(Some(outer), |error| error.source()).last().unwrap_or(outer).to_string()
}

/// No ACL library could be loaded.
#[derive(Debug, thiserror::Error)]
#[error(
    "no ACL library could be loaded; install CANN and source its set_env.sh, or set {LIBRARY_VARIABLE} to libascendcl.so \
     or its folder. Tried:{}",
    Lines(attempts)
)]
pub struct LoadError {
    /// Every place that was tried, in order.
    pub attempts: Vec<Attempt>,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) {}", self.path.display(), self.origin, self.reason)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => f.write_str("as asked"),
            Self::LibraryVariable => write!(f, "{LIBRARY_VARIABLE}"),
            Self::HomeVariable => write!(f, "{HOME_VARIABLE}"),
            Self::DefaultFolder => f.write_str("default folder"),
            Self::SystemSearch => f.write_str("system search"),
        }
    }
}

/// Attempts, each on a line of its own.
struct Lines<'a>(&'a [Attempt]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|attempt| write!(f, "\n  {attempt}"))
    }
}

/// ACL's library for this process, found as the module says and opened on the first call.
///
/// Any thread; a failure is not remembered, so that a later call may succeed.
///
/// # Errors
///
/// [`LoadError`] with every place that was tried.
pub fn load() -> Result<&'static Library, LoadError> {
    if let Some(library) = LOADED.get() {
        return Ok(library);
    }
    let places = places(|variable| std::env::var_os(variable));
    // SAFETY: the places are the ones that the owner of this process chose for CANN: its variables, its folders, and the
    // system's own search, which is trusted as for any library that a program is linked to. That the symbols have ACL's
    // signatures is what those names promise.
    let library = unsafe { open_first(&places) }?;
    // Where two threads come here at once, the second result is dropped; both libraries stay open (invariant 1).
    Ok(LOADED.get_or_init(|| library))
}

/// The library in `place`, a file or a folder, apart from the one of the process.
///
/// # Errors
///
/// [`LoadError`] with the files that were tried.
///
/// # Safety
///
/// - What lies at `place` may be loaded into this process, with all that it depends on.
/// - Every symbol of it that has the name of one of ACL's functions has its C signature too.
pub unsafe fn load_from(place: &Path) -> Result<Library, LoadError> {
    // SAFETY: the caller promises both for this place.
    unsafe { open_first(&[Place::of_path(place, Origin::Caller)]) }
}

/// A place to look in.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The files to ask, in order.
    files: Vec<PathBuf>,
    origin: Origin,
}

impl Place {
    fn folder(folder: &Path, origin: Origin) -> Self {
        Self { files: FILES.iter().map(|file| folder.join(file)).collect(), origin }
    }

    /// A file, or a folder if it is one. A file stands for itself alone, except that `libacl_rt.so` has its models in
    /// the file beside it.
    fn of_path(path: &Path, origin: Origin) -> Self {
        // A bare name would be left to the system's search.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        if path.is_dir() {
            return Self::folder(&path, origin);
        }
        let models = path.ends_with(FILES[1]).then(|| path.with_file_name(FILES[2]));
        Self { files: std::iter::once(path).chain(models).collect(), origin }
    }

    fn system() -> Self {
        Self { files: FILES.iter().map(PathBuf::from).collect(), origin: Origin::SystemSearch }
    }
}

/// Where to look, in order, given the environment.
fn places(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Place> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = set(LIBRARY_VARIABLE) {
        return vec![Place::of_path(&path, Origin::LibraryVariable)];
    }
    let home = set(HOME_VARIABLE).map(|home| Place::folder(&home.join("lib64"), Origin::HomeVariable));
    let defaults =
        DEFAULT_FOLDERS.iter().map(|folder| Place::folder(Path::new(folder), Origin::DefaultFolder));
    home.into_iter().chain(defaults).chain([Place::system()]).collect()
}

/// The first place that serves.
///
/// # Safety
///
/// As for [`load_from`], for every place.
unsafe fn open_first(places: &[Place]) -> Result<Library, LoadError> {
    let mut attempts = Vec::new();
    for place in places {
        // SAFETY: the caller promises it for every place.
        match unsafe { open(place) } {
            Ok(library) => return Ok(library),
            Err(failed) => attempts.extend(failed),
        }
    }
    Err(LoadError { attempts })
}

/// Opens the files of one place until nothing is missing.
///
/// # Safety
///
/// As for [`load_from`].
unsafe fn open(place: &Place) -> Result<Library, Vec<Attempt>> {
    let mut library = Library::from_table(Table::EMPTY);
    for file in &place.files {
        if !library.files.is_empty() && library.missing().next().is_none() {
            break;
        }
        let failed = |reason| Attempt { path: file.clone(), origin: place.origin, reason };
        if place.origin != Origin::SystemSearch && !file.exists() {
            library.not_opened.push(failed(Reason::NotThere));
            continue;
        }
        // SAFETY: the caller promises that the file may be loaded.
        match unsafe { libloading::Library::new(file) } {
            Ok(opened) => {
                // Never dropped, so never closed (invariant 1).
                let opened = ManuallyDrop::new(opened);
                // SAFETY: the caller promises the signatures, and the line above keeps the library open for good.
                unsafe { library.table.fill_from(&opened) };
                library.files.push(file.clone());
            }
            Err(error) => library.not_opened.push(failed(why_not_opened(file, error))),
        }
    }
    let missing: Vec<_> = REQUIRED.iter().copied().filter(|symbol| !library.is_supported(symbol)).collect();
    match library.files.first() {
        Some(_) if missing.is_empty() => Ok(library),
        Some(first) => {
            let path = first.clone();
            library.not_opened.push(Attempt {
                path,
                origin: place.origin,
                reason: Reason::NotAcl { missing },
            });
            Err(library.not_opened)
        }
        None => Err(library.not_opened),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places with these variables set.
    fn places_with(variables: &[(&str, &str)]) -> Vec<Place> {
        places(|name| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value)))
    }

    fn origins(places: &[Place]) -> Vec<Origin> {
        places.iter().map(|place| place.origin).collect()
    }

    #[test]
    fn without_variables_the_default_folders_come_before_the_system() {
        let places = places_with(&[]);
        let (last, defaults) = places.split_last().expect("never empty");
        assert_eq!(last, &Place::system());
        assert!(origins(defaults).iter().all(|origin| *origin == Origin::DefaultFolder));
        assert_eq!(
            defaults[0].files[0],
            Path::new("/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so")
        );
    }

    #[test]
    fn the_home_of_cann_comes_first() {
        let places = places_with(&[(HOME_VARIABLE, "/opt/cann")]);
        assert_eq!(places[0], Place::folder(Path::new("/opt/cann/lib64"), Origin::HomeVariable));
        assert_eq!(places.len(), places_with(&[]).len() + 1);
    }

    #[test]
    fn the_library_variable_stands_alone() {
        let places =
            places_with(&[(HOME_VARIABLE, "/opt/cann"), (LIBRARY_VARIABLE, "/opt/x/libascendcl.so")]);
        assert_eq!(origins(&places), [Origin::LibraryVariable]);
        assert_eq!(places[0].files, [Path::new("/opt/x/libascendcl.so")]);
    }

    #[test]
    fn an_empty_variable_is_as_good_as_none() {
        assert_eq!(places_with(&[(LIBRARY_VARIABLE, ""), (HOME_VARIABLE, "")]), places_with(&[]));
    }

    #[test]
    fn the_runtime_library_brings_the_models_beside_it() {
        let place = Place::of_path(Path::new("/opt/x/libacl_rt.so"), Origin::Caller);
        assert_eq!(place.files, [Path::new("/opt/x/libacl_rt.so"), Path::new("/opt/x/libacl_mdl.so")]);
    }
}

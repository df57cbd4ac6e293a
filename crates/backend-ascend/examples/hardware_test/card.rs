//! What the card and the software on it are.

use std::fs;
use std::path::{Path, PathBuf};

use backend_ascend::AscendBackend;
use mempool_core::{Bytes, Device, VirtualMemory};
use serde_json::{Value, json};

use crate::output::say;
use crate::version_text::version_of;

/// Where CANN and its driver say their versions: below the home of CANN, and in the places where they install themselves.
const CANN_FILES: [&str; 3] = ["version.cfg", "version.info", "runtime/version.info"];
const CANN_HOMES: [&str; 2] = ["/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann"];
const DRIVER_FILE: &str = "/usr/local/Ascend/driver/version.info";
/// CANN's own variable for where it is.
const HOME: &str = "ASCEND_HOME_PATH";

/// The facts that a report starts with.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) simulated: bool,
    pub(crate) versions: Value,
    pub(crate) facts: Value,
}

/// Asks and prints.
pub(crate) fn describe(backend: &AscendBackend, simulated: bool) -> Result<Card, String> {
    let device = backend.context().device();
    let runtime = device.runtime();
    let info = backend.memory_info().map_err(|error| error.to_string())?;
    let properties = backend.properties();
    let acl = runtime.version().map(|(major, minor, patch)| format!("{major}.{minor}.{patch}")).ok();
    let (cann, driver) =
        if simulated { (None, None) } else { (cann_version(), version_in(Path::new(DRIVER_FILE))) };
    let files: Vec<_> = runtime.library().files().iter().map(|file| file.display().to_string()).collect();
    let missing: Vec<_> = runtime.library().missing().collect();
    let granule = backend.virtual_memory().map(VirtualMemory::granule);

    let known = |version: &Option<String>| version.clone().unwrap_or_else(|| "not known".to_owned());
    let kind = if simulated { " (simulated)" } else { "" };
    if simulated {
        say(format_args!("This is the simulator: its figures and answers say nothing of a card.\n"));
    }
    say(format_args!("card"));
    say(format_args!("  number     {} of {}", device.number(), runtime.device_count().unwrap_or(0)));
    say(format_args!("  chip       {}{kind}", properties.name));
    say(format_args!("  memory     {}, {} free", info.total, info.free));
    say(format_args!(
        "  granule    {}",
        granule.map_or_else(|| why_not(backend), |granule| granule.to_string())
    ));
    say(format_args!("  ACL        {}", known(&acl)));
    say(format_args!("  CANN       {}", known(&cann)));
    say(format_args!("  driver     {}", known(&driver)));
    say(format_args!("  library    {}", files.join(", ")));
    say(format_args!("  missing    {} functions of ACL, which the report names", missing.len()));

    Ok(Card {
        simulated,
        versions: json!({
            "ascend_mempool": env!("CARGO_PKG_VERSION"),
            "acl": acl,
            "cann": cann,
            "driver": driver,
            "host": std::env::consts::ARCH,
            "soc": properties.name,
        }),
        facts: json!({
            "device": device.number(),
            "memory_total_bytes": info.total.get(),
            "memory_free_bytes": info.free.get(),
            "virtual_granule_bytes": granule.map(Bytes::get),
            "block_alignment_bytes": properties.block_alignment.get(),
            "tail_padding_bytes": properties.tail_padding.extra.get(),
            "library_files": files,
            "missing_functions": missing,
        }),
    })
}

fn why_not(backend: &AscendBackend) -> String {
    backend.why_no_virtual_memory().map_or_else(String::new, |why| format!("no virtual memory: {why}"))
}

fn cann_version() -> Option<String> {
    let home = std::env::var_os(HOME).map(PathBuf::from);
    let homes = home.into_iter().chain(CANN_HOMES.map(PathBuf::from));
    homes.flat_map(|home| CANN_FILES.map(|file| home.join(file))).find_map(|file| version_in(&file))
}

/// The version that a file of CANN states.
fn version_in(file: &Path) -> Option<String> {
    version_of(&fs::read_to_string(file).ok()?)
}

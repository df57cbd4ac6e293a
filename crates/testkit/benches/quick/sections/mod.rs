//! The sections of the result: one a goal of the design, each measured as a whole.

mod footprint;
mod growth;
mod metadata;
mod pool;
mod speed;

use crate::args::Depth;
use crate::figure::Figure;

/// What a section yields.
pub(crate) type Measured = Result<Vec<Figure>, Box<dyn std::error::Error>>;

/// One goal of the design and how it is measured.
pub(crate) struct Section {
    /// Number of the goal.
    pub(crate) id: &'static str,
    /// What it is about, for filters.
    pub(crate) what: &'static str,
    /// Measures it.
    pub(crate) measure: fn(Depth) -> Measured,
}

/// All sections, in the order in which they run.
pub(crate) const SECTIONS: [Section; 7] = [
    Section { id: "P1", what: "core speed, mixed sizes, free by address", measure: speed::mixed },
    Section { id: "P2", what: "core speed, small sizes", measure: speed::small },
    Section { id: "P3", what: "P4: speed of the thread-safe pool", measure: pool::thread_safe },
    Section { id: "order", what: "cost of the order of streams", measure: pool::stream_order },
    Section { id: "P5", what: "growth of the core's time with live blocks", measure: growth::growth },
    Section { id: "P8", what: "footprint: address space needed / peak live", measure: footprint::footprint },
    Section { id: "P12", what: "metadata of the core", measure: metadata::metadata },
];

/// A live count as people say it.
fn live_label(live: u32) -> String {
    match live {
        1_000_000.. => format!("{} M live", live / 1_000_000),
        1_000.. => format!("{} k live", live / 1_000),
        _ => format!("{live} live"),
    }
}

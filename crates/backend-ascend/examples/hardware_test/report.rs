//! The report as JSON. Keys and their meanings stay: what is added raises nothing, what goes or changes raises
//! [`SCHEMA_VERSION`].
//!
//! | key | holds |
//! | --- | --- |
//! | `schema`, `schema_version` | what this is |
//! | `unix_time_s` | when it was made, in seconds since 1970 |
//! | `simulated` | whether the card was the simulator |
//! | `passed` | whether all checks hold |
//! | `versions` | `ascend_mempool`, `acl`, `cann`, `driver`, `soc`, `host`; null where not known |
//! | `card` | number, memory, granule, alignment and padding in bytes, library files, functions that they lack |
//! | `conformance` | for each `suite` the number of `checks`, and of each that `failed` the `check` and what was `found` |
//! | `pool` | for each `size_bytes` the time of a pair of allocation and free over this device, over host memory, and their `ratio` |
//! | `timings` | for each `operation` `n` samples, and `median_ns`, `p99_ns`, `min_ns`, `max_ns` |
//! | `questions` | for each `id` the `question`, the `answer` in few words, and the `detail` |

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::card::Card;
use crate::overhead::Overhead;
use crate::samples::Timing;

const SCHEMA: &str = "ascend-mempool hardware-test";
const SCHEMA_VERSION: u32 = 1;

/// A suite of checks and what it found.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) checks: usize,
    /// Name of each failed check, and what was found.
    pub(crate) failed: Vec<(String, String)>,
}

/// An answer to a question that the documents leave open.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Never changes.
    pub(crate) id: &'static str,
    pub(crate) question: &'static str,
    /// One of a few words.
    pub(crate) found: String,
    /// The words of the driver, or figures.
    pub(crate) detail: String,
}

#[derive(Debug)]
pub(crate) struct Report {
    card: Card,
    pub(crate) conformance: Vec<Suite>,
    pub(crate) timings: Vec<Timing>,
    pub(crate) pool: Vec<Overhead>,
    pub(crate) questions: Vec<Answer>,
}

impl Report {
    pub(crate) fn new(card: Card) -> Self {
        Self { card, conformance: Vec::new(), timings: Vec::new(), pool: Vec::new(), questions: Vec::new() }
    }

    pub(crate) fn passed(&self) -> bool {
        self.conformance.iter().all(|suite| suite.failed.is_empty())
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let text = format!("{:#}\n", self.to_json());
        fs::write(path, text)
            .map_err(|error| format!("--report is {}, which cannot be written: {error}", path.display()))
    }

    fn to_json(&self) -> Value {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        json!({
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "unix_time_s": since,
            "simulated": self.card.simulated,
            "passed": self.passed(),
            "versions": self.card.versions,
            "card": self.card.facts,
            "conformance": self.conformance.iter().map(suite).collect::<Vec<_>>(),
            "pool": self.pool.iter().map(Overhead::to_json).collect::<Vec<_>>(),
            "timings": self.timings.iter().map(timing).collect::<Vec<_>>(),
            "questions": self.questions.iter().map(answer).collect::<Vec<_>>(),
        })
    }
}

fn suite(suite: &Suite) -> Value {
    let failed = suite.failed.iter().map(|(name, found)| json!({ "check": name, "found": found }));
    json!({ "suite": suite.name, "checks": suite.checks, "failed": failed.collect::<Vec<_>>() })
}

fn timing(timing: &Timing) -> Value {
    json!({
        "operation": timing.name,
        "n": timing.samples,
        "median_ns": timing.median_ns,
        "p99_ns": timing.p99_ns,
        "min_ns": timing.min_ns,
        "max_ns": timing.max_ns,
    })
}

fn answer(answer: &Answer) -> Value {
    json!({ "id": answer.id, "question": answer.question, "answer": answer.found, "detail": answer.detail })
}

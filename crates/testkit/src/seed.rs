//! Where random numbers start, and how long a test runs.

use std::env;
use std::fmt::Display;
use std::thread;

/// Names the variable that repeats a failed run.
pub const SEED_VARIABLE: &str = "MEMPOOL_TEST_SEED";
/// Names the variable that makes tests long.
pub const LONG_VARIABLE: &str = "MEMPOOL_TEST_LONG";
/// Steps of a long test.
pub const LONG_STEPS: usize = 1_000_000;

/// Whether this is a long run: [`LONG_VARIABLE`] is set, and not to nothing or 0.
pub fn is_long() -> bool {
    env::var_os(LONG_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// [`LONG_STEPS`] in a long run, else `quick`.
pub fn steps(quick: usize) -> usize {
    if is_long() { LONG_STEPS } else { quick }
}

/// A seed that says what it is when its test fails: keep it alive to the end of the test.
#[derive(Debug)]
#[must_use = "the seed is told when this is dropped by a panic"]
pub struct Seed {
    value: u64,
    test: String,
}

impl Seed {
    /// The seed that [`SEED_VARIABLE`] asks for, else a fresh one. `test` names who uses it.
    ///
    /// # Panics
    ///
    /// When the variable holds no number: a seed that is silently another one would help nobody.
    pub fn for_test(test: impl Display) -> Self {
        let value = match env::var(SEED_VARIABLE) {
            Ok(number) => number
                .trim()
                .parse()
                .unwrap_or_else(|_| panic!("{SEED_VARIABLE} is {number:?}, which is no number")),
            Err(_) => fastrand::u64(..),
        };
        Self { value, test: test.to_string() }
    }

    /// The number.
    pub const fn value(&self) -> u64 {
        self.value
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if thread::panicking() {
            #[expect(clippy::print_stderr, reason = "a failed test must say how to repeat it")]
            {
                eprintln!("{}: repeat with {SEED_VARIABLE}={}", self.test, self.value);
            }
        }
    }
}

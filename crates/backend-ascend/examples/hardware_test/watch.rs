//! Runs what may take long or panic: on a card that nobody has tried, anything may happen, and the report shall be written all the
//! same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::output::say;

/// So long a check may take in silence.
const LONG: Duration = Duration::from_secs(30);

/// Runs `run`, says so when it takes long, and answers the words of a panic.
pub(crate) fn watched<T>(name: &'static str, run: impl FnOnce() -> T) -> Result<T, String> {
    let _watch = Watch::start(name);
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
    })
}

/// Watches what runs while it lives.
#[derive(Debug)]
struct Watch {
    // Before the thread: that ends when this is gone.
    running: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn start(name: &'static str) -> Self {
        let (running, ended) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            let mut times = 0_u32;
            while ended.recv_timeout(LONG) == Err(mpsc::RecvTimeoutError::Timeout) {
                times += 1;
                say(format_args!("    {name} has been running for {} s", LONG.as_secs() * u64::from(times)));
            }
        });
        Self { running: Some(running), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // It only prints, so there is nothing to hand on.
            let _ = thread.join();
        }
    }
}

//! Says what is running when it takes long.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::output::say;

/// So long a check may take in silence.
const LONG: Duration = Duration::from_secs(30);

/// Watches what runs while it lives.
#[derive(Debug)]
pub(crate) struct Watch {
    // Before the thread: that ends when this is gone.
    running: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn start(name: &'static str) -> Self {
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

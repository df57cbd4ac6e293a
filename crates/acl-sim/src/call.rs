//! What surrounds the body of every exported function: no panic leaves it, planned failures and latencies, errors
//! kept.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use acl_sys::{ACL_ERROR_INTERNAL_ERROR, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, ACL_SUCCESS, aclError};
use host_device::Site;

use crate::failure::Failure;
use crate::runtime::{self, Runtime};
use crate::thread_state;

/// Numbers all calls of the process, so that reports can tell two of one name apart.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Calls whose latency passes on the stream, behind the caller.
const ENQUEUING: &[&str] = &["aclrtMemcpyAsync", "aclrtMemsetAsync", "aclmdlExecuteAsync"];

/// Calls that tell of errors and so must leave them alone.
const ABOUT_ERRORS: &[&str] = &["aclGetRecentErrMsg", "aclrtGetLastError", "aclrtPeekAtLastError"];

/// Runs the body of a function that answers a status.
pub(crate) fn status(name: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> aclError {
    match run(name, body) {
        Ok(()) => ACL_SUCCESS,
        Err(failure) => failure.code,
    }
}

/// Runs the body of a function that answers something else, `otherwise` when it fails.
pub(crate) fn value<T>(name: &'static str, otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    run(name, body).unwrap_or(otherwise)
}

fn run<T>(name: &'static str, body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let before = thread_state::enter_call(name, CALLS.fetch_add(1, Ordering::Relaxed) + 1);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let runtime = runtime::peek();
        let outcome = prepare(name, runtime.as_deref()).and_then(|()| body());
        if let Some(runtime) = runtime
            && !ABOUT_ERRORS.contains(&name)
        {
            tell_hazards(&runtime);
        }
        outcome
    }));
    thread_state::leave_call(before);
    let outcome = outcome.unwrap_or_else(|panic| {
        let text = format!("{name} failed inside the simulator: {}", words(panic.as_ref()));
        Err(Failure::new(ACL_ERROR_INTERNAL_ERROR, text))
    });
    if let Err(failure) = &outcome {
        thread_state::set_error(failure.code);
        thread_state::set_text(&format!("{name}: {} (error {})", failure.text, failure.code));
    }
    outcome
}

/// Lets a call fail, or take its time, as planned.
fn prepare(name: &'static str, runtime: Option<&Runtime>) -> Result<(), Failure> {
    let Some(runtime) = runtime else { return Ok(()) };
    if runtime.lacks(name) {
        let text =
            format!("CANN {} does not have it: set ASCEND_SIM_VERSION higher", runtime.settings.version);
        return Err(Failure::new(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, text));
    }
    if let Some((number, code)) = runtime.planned_failure(name) {
        return Err(Failure::new(code, format!("call {number} fails as ASCEND_SIM_FAIL says")));
    }
    if !ENQUEUING.contains(&name)
        && let Some(&latency) = runtime.settings.latencies.get(name)
    {
        thread::sleep(latency);
    }
    Ok(())
}

/// How long what the current call enqueues is to last.
pub(crate) fn stream_latency(runtime: &Runtime) -> Duration {
    runtime.settings.latencies.get(thread_state::call().0).copied().unwrap_or_default()
}

/// Where the program is, for reports.
pub(crate) fn site() -> Site {
    Site::new(site_words())
}

pub(crate) fn site_words() -> String {
    let (name, number) = thread_state::call();
    format!("{name}, call {number}")
}

/// Hands reports of misused memory on. A call that succeeds leaves its text to them.
fn tell_hazards(runtime: &Runtime) {
    for device in runtime.active_devices() {
        for hazard in device.engine.take_hazards() {
            runtime.reports.add(format!("device {}: {hazard}", device.index));
        }
    }
    for text in runtime.reports.take() {
        runtime.reports.write(&text);
        thread_state::set_text(&format!("hazard: {text}"));
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code_and_a_text() {
        let code = status("aclrtFree", || panic!("broken"));
        assert_eq!(code, ACL_ERROR_INTERNAL_ERROR);
        assert_eq!(thread_state::take_error(), ACL_ERROR_INTERNAL_ERROR);
        assert!(!thread_state::hand_out_text().is_null());
    }
}

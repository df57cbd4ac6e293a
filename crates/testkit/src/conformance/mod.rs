//! One list of checks for every device, alone and with a pool on top.
//!
//! A backend runs it in one test:
//!
//! ```
//! use std::sync::Arc;
//! use mempool_core::{AddressDevice, Bytes};
//! use testkit::conformance::run_conformance;
//!
//! run_conformance(|| Arc::new(AddressDevice::new(Bytes::gib(4))))?;
//! # Ok::<(), testkit::conformance::ConformanceError>(())
//! ```
//!
//! The device must be the caller's alone while the checks run, with at least 64 MiB and 64 granules free. What a device offers
//! beside arenas is checked where it does: virtual memory in the same list; events, which need streams and work in them, by
//! [`run_event_conformance`]. The memory itself is looked at by [`run_byte_conformance`].

mod byte_checks;
mod device_checks;
mod event_checks;
mod pool_checks;
mod refusal_checks;
mod sharing_checks;
mod virtual_memory_checks;

use std::fmt;
use std::sync::Arc;

use mempool_core::{Alignment, Bytes, Device, Pool, PoolConfig, PoolConfigBuilder};

pub use byte_checks::{BYTE_CHECKS, ByteCheck, DeviceWithBytes, run_byte_conformance};
pub use event_checks::{EVENT_CHECKS, EventCheck, HeldWork, MakeRig, StreamRig, run_event_conformance};

use crate::violation::Violation;
use crate::watched_device::WatchedDevice;

/// Makes a device like the last one, with nothing taken from it.
pub type MakeDevice<'a> = &'a dyn Fn() -> Arc<dyn Device>;

/// What a check answers.
pub type CheckResult = Result<(), Violation>;

/// A check by name.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Says what holds.
    pub name: &'static str,
    /// Does it.
    pub run: fn(MakeDevice<'_>) -> CheckResult,
}

/// A table of checks, each named after its function.
macro_rules! checks {
    ($($module:ident :: $name:ident),* $(,)?) => {
        /// All checks, in the order in which they run.
        pub const CHECKS: &[Check] = &[$(Check { name: stringify!($name), run: $module::$name }),*];
    };
}

checks![
    device_checks::properties_stay_the_same,
    device_checks::free_memory_is_no_more_than_all_memory,
    device_checks::bases_are_multiples_of_the_arena_alignment,
    device_checks::any_number_of_granules_is_served,
    device_checks::arenas_do_not_overlap,
    device_checks::memory_info_moves_by_what_is_taken,
    device_checks::more_than_is_free_is_out_of_memory_and_changes_nothing,
    device_checks::all_free_memory_can_be_taken_and_no_more,
    device_checks::what_was_given_back_can_be_taken_again,
    device_checks::threads_may_call_at_the_same_time,
    pool_checks::a_pool_allocates_frees_and_trims_to_nothing,
    pool_checks::a_pool_uses_several_arenas,
    pool_checks::a_pool_starts_with_its_initial_arena,
    pool_checks::blocks_have_every_alignment_that_fits,
    pool_checks::blocks_have_the_padding_and_alignment_of_the_device,
    pool_checks::a_pool_keeps_its_limit,
    pool_checks::a_pool_stops_at_the_device_s_memory,
    pool_checks::a_repeated_pattern_asks_the_device_nothing,
    pool_checks::random_actions_agree_with_the_shadow,
    refusal_checks::zero_bytes_are_refused,
    refusal_checks::sizes_near_2_to_the_63_are_refused,
    refusal_checks::alignments_over_1_gib_are_refused,
    refusal_checks::a_double_free_is_refused,
    refusal_checks::an_interior_free_is_refused,
    refusal_checks::a_foreign_free_is_refused,
    refusal_checks::a_free_in_the_wrong_pool_names_the_owner,
    refusal_checks::a_stale_free_is_refused,
    refusal_checks::a_free_with_the_wrong_size_is_refused,
    sharing_checks::threads_share_a_pool,
    sharing_checks::a_thread_may_free_what_another_allocated,
    sharing_checks::pools_share_a_device,
    sharing_checks::the_last_handle_gives_everything_back,
    sharing_checks::a_block_keeps_its_pool_alive,
    event_checks::events_and_streams_that_never_were_are_errors,
    virtual_memory_checks::whether_there_is_virtual_memory_never_changes,
    virtual_memory_checks::addresses_cost_no_memory_and_memory_no_addresses,
    virtual_memory_checks::memory_can_be_mapped_again_and_elsewhere,
    virtual_memory_checks::reservations_and_arenas_do_not_overlap,
    virtual_memory_checks::a_refused_mapping_changes_nothing,
    virtual_memory_checks::what_is_mapped_stays,
    virtual_memory_checks::sizes_that_are_no_granules_are_refused,
    virtual_memory_checks::more_physical_memory_than_is_free_is_out_of_memory,
    virtual_memory_checks::threads_may_map_at_the_same_time,
    virtual_memory_checks::whole_free_granules_serve_a_pool_wherever_they_are,
];

/// The checks that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConformanceError {
    /// Name of the device.
    pub device: String,
    /// Number of checks that ran.
    pub checks: usize,
    /// Name of each failed check, and what was found.
    pub failed: Vec<(&'static str, Violation)>,
}

impl fmt::Display for ConformanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} checks failed on device {:?}", self.failed.len(), self.checks, self.device)?;
        self.failed.iter().try_for_each(|(name, violation)| write!(f, "\n  {name}: {violation}"))
    }
}

/// Runs all checks, each on devices of its own.
///
/// # Errors
///
/// All checks that failed, by name.
pub fn run_conformance(make_device: impl Fn() -> Arc<dyn Device>) -> Result<(), ConformanceError> {
    let checks = CHECKS.iter().map(|check| (check.name, (check.run)(&make_device)));
    run_list(checks, || make_device().properties().name)
}

/// Runs checks as they are asked for, and gathers those that fail.
fn run_list(
    checks: impl Iterator<Item = (&'static str, CheckResult)>,
    device: impl FnOnce() -> String,
) -> Result<(), ConformanceError> {
    let mut count = 0;
    let mut failed = Vec::new();
    for (name, result) in checks {
        count += 1;
        failed.extend(result.err().map(|violation| (name, violation)));
    }
    if failed.is_empty() { Ok(()) } else { Err(ConformanceError { device: device(), checks: count, failed }) }
}

/// A watched device, and a pool over it.
struct Subject {
    device: Arc<WatchedDevice>,
    pool: Pool,
    /// What the checks count in: at least 2 MiB, a multiple of the granularity.
    unit: Bytes,
}

impl Subject {
    fn new(
        make_device: MakeDevice<'_>,
        config: impl FnOnce(PoolConfigBuilder, Bytes) -> PoolConfigBuilder,
    ) -> Result<Self, Violation> {
        let device = make_device();
        let unit = unit_of(&*device);
        let config = config(PoolConfig::builder().arena_size(times(unit, 4)), unit)
            .build()
            .map_err(|error| Violation::new("conformance", error.to_string()))?;
        let watched = WatchedDevice::new(device);
        let device = Arc::new(match config.max_size() {
            Some(limit) => watched.with_limit(limit),
            None => watched,
        });
        let pool = Pool::new(Arc::clone(&device) as _, config)
            .map_err(|error| Violation::new("conformance", error.to_string()))?;
        Ok(Self { device, pool, unit })
    }

    /// Checks the pool, ends it, and checks that the device has everything back.
    fn end(self) -> CheckResult {
        self.pool.validate().map_err(|error| Violation::new("validate", error.to_string()))?;
        drop(self.pool);
        self.device.check_all_returned()
    }
}

/// What the checks count in on this device: at least 2 MiB, a multiple of the granularity.
fn unit_of(device: &dyn Device) -> Bytes {
    let granularity = device.properties().arena_granularity;
    Bytes::mib(2).round_up_to(granularity).unwrap_or(granularity)
}

fn times(bytes: Bytes, count: u64) -> Bytes {
    Bytes::new(bytes.get().saturating_mul(count))
}

fn alignment_of(shift: u32) -> Alignment {
    Alignment::new(1 << shift).expect("a power of two")
}

/// Turns an error that must not be into a violation.
fn served<T, E: std::error::Error>(what: &'static str, result: Result<T, E>) -> Result<T, Violation> {
    result.map_err(|error| Violation::new(what, format!("refused: {error}")))
}

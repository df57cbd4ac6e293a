//! A plan on a bare heap: how much address space a policy needs when nothing limits it.

use mempool_core::heap::Heap;
use mempool_core::{Alignment, Bytes, DeviceAddress, FitPolicy};

use super::ReplayError;
use super::plan::{Plan, Todo};

/// The heap starts with at least this much.
const SMALLEST: Bytes = Bytes::mib(64);
/// The heap gets at most this much, since its books take 12 bytes a page of 16 KiB: 400 MiB here.
pub(super) const LARGEST: Bytes = Bytes::gib(512);
/// Where the arena lies does not matter.
const BASE: DeviceAddress = DeviceAddress::new(1 << 40);

/// Address space that the plan needs in one arena, `None` when that is more than [`LARGEST`]. Single blocks that large are
/// left out: no device serves them.
///
/// The arena is at least twice as large as what is used of it. So the free run at its end is longer than any hole, and no
/// policy does other than it would in an arena without an end.
pub(super) fn needed(plan: &Plan, policy: FitPolicy) -> Result<Option<Bytes>, ReplayError> {
    let mut arena = Bytes::new(peak(plan).get().saturating_mul(4)).clamp(SMALLEST, LARGEST);
    loop {
        let extent = run(plan, policy, arena)?;
        if arena == LARGEST {
            return Ok(extent);
        }
        match extent {
            Some(extent) if extent.get() <= arena.get() / 2 => return Ok(Some(extent)),
            _ => arena = Bytes::new(arena.get() * 2).min(LARGEST),
        }
    }
}

/// The most bytes live at once, of blocks that a device could serve.
fn peak(plan: &Plan) -> Bytes {
    let mut sizes = vec![Bytes::ZERO; plan.slots()];
    let (mut live, mut peak) = (Bytes::ZERO, Bytes::ZERO);
    for operation in plan.steps() {
        let size = &mut sizes[operation.slot()];
        live = live.saturating_sub(std::mem::take(size));
        if let Todo::Allocate(bytes) = operation.todo()
            && bytes < LARGEST
        {
            *size = bytes;
            live = live.saturating_add(bytes);
            peak = peak.max(live);
        }
    }
    peak
}

/// Runs the plan in one arena and says how much of it was used, `None` when it is too small.
fn run(plan: &Plan, policy: FitPolicy, arena: Bytes) -> Result<Option<Bytes>, ReplayError> {
    let mut heap = Heap::new(policy);
    heap.add_arena(BASE, arena).map_err(|source| ReplayError::Heap { bytes: arena, source })?;
    let mut live: Vec<Option<DeviceAddress>> = vec![None; plan.slots()];
    for operation in plan.steps() {
        let live = &mut live[operation.slot()];
        match operation.todo() {
            Todo::Allocate(size) if size < LARGEST => match heap.allocate(size, Alignment::ONE) {
                Some(block) => *live = Some(block.address),
                None => return Ok(None),
            },
            Todo::Allocate(_) => {}
            Todo::Free => {
                if let Some(address) = live.take() {
                    let freed = heap.free(address);
                    freed.map_err(|source| ReplayError::Free { line: operation.line(), source })?;
                }
            }
        }
    }
    Ok(Some(heap.extent()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::PlanBuilder;
    use crate::rmm::{Action, TraceRow};

    fn plan(rows: &[(Action, u64, Bytes)]) -> Plan {
        let mut builder = PlanBuilder::new();
        for &(action, pointer, size) in rows {
            let _ = builder.add(&TraceRow::new(action, pointer, size.get()));
        }
        builder.finish()
    }

    #[test]
    fn a_hole_too_small_for_what_comes_makes_the_space_larger_than_the_peak() {
        use Action::{Allocate, Free};
        let (small, large) = (Bytes::mib(100), Bytes::mib(101));
        let rows = [(Allocate, 1, small), (Allocate, 2, small), (Free, 1, small), (Allocate, 3, large)];
        for policy in FitPolicy::ALL {
            assert_eq!(needed(&plan(&rows), policy).unwrap(), Some(Bytes::mib(301)));
        }
    }

    #[test]
    fn blocks_that_no_device_serves_are_left_out() {
        let rows = [
            (Action::Allocate, 1, Bytes::MAX),
            (Action::Allocate, 2, Bytes::mib(1)),
            (Action::Allocate, 3, LARGEST),
            (Action::Free, 1, Bytes::MAX),
        ];
        assert_eq!(needed(&plan(&rows), FitPolicy::BestFit).unwrap(), Some(Bytes::mib(1)));
    }

    #[test]
    fn an_empty_plan_needs_nothing() {
        assert_eq!(needed(&Plan::default(), FitPolicy::FirstFit).unwrap(), Some(Bytes::ZERO));
    }
}

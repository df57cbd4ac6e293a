//! The conformance suite of testkit.

use std::sync::Arc;

use backend_ascend::{ArenaSource, AscendOptions, Pages, VirtualPages};
use mempool_core::{Alignment, Bytes, Device};
use testkit::conformance::{run_byte_conformance, run_conformance, run_event_conformance};

use super::cards::open;
use super::process::on_simulator;
use super::rig::{AscendBytes, AscendRig};

const CARD: (&str, &str) = ("ASCEND_SIM_CAPACITY", "3GiB");

#[track_caller]
fn conforms(options: AscendOptions) {
    run_conformance(|| Arc::new(open(options))).unwrap_or_else(|error| panic!("{error}"));
    let errors = open(options).context().device().runtime().release_errors();
    assert_eq!((errors.failed, errors.leaked), (0, 0));
}

#[test]
fn arenas_by_malloc_conform() {
    on_simulator(arenas_by_malloc_conform, &[CARD], || conforms(AscendOptions::default()));
}

#[test]
fn arenas_on_normal_pages_conform() {
    on_simulator(arenas_on_normal_pages_conform, &[CARD], || {
        conforms(AscendOptions::default().pages(Pages::Normal));
    });
}

#[test]
fn arenas_by_virtual_memory_conform() {
    on_simulator(arenas_by_virtual_memory_conform, &[CARD], || {
        conforms(AscendOptions::default().arena_source(ArenaSource::VirtualMemory));
    });
}

#[test]
fn arenas_in_granules_of_1_gib_conform() {
    // 64 granules and more have to be free.
    on_simulator(arenas_in_granules_of_1_gib_conform, &[("ASCEND_SIM_CAPACITY", "256GiB")], || {
        let options = AscendOptions::default()
            .arena_source(ArenaSource::VirtualMemory)
            .virtual_pages(VirtualPages::Gib1);
        assert_eq!(open(options).properties().arena_granularity, Bytes::gib(1));
        assert_eq!(open(options).properties().arena_alignment, Alignment::GIB_1);
        conforms(options);
    });
}

#[test]
fn the_oldest_cann_conforms_too() {
    on_simulator(the_oldest_cann_conforms_too, &[CARD, ("ASCEND_SIM_VERSION", "8.5")], || {
        conforms(AscendOptions::default());
        conforms(AscendOptions::default().arena_source(ArenaSource::VirtualMemory));
    });
}

#[test]
fn events_conform() {
    on_simulator(events_conform, &[CARD], || {
        run_event_conformance(|| Box::new(AscendRig::new(open(AscendOptions::default()))))
            .unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn bytes_conform() {
    on_simulator(bytes_conform, &[CARD], || {
        for source in [ArenaSource::Malloc, ArenaSource::VirtualMemory] {
            run_byte_conformance(|| {
                let backend = Arc::new(open(AscendOptions::default().arena_source(source)));
                (Arc::clone(&backend) as _, Arc::new(AscendBytes(backend)))
            })
            .unwrap_or_else(|error| panic!("{source:?}: {error}"));
        }
    });
}

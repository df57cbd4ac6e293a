//! Pinned and registered host memory, and the limits of drivers.

use acl::{AclCode, AclError, Context, ErrorKind, HostRegistration, HostUse, PinnedMemory};
use serial_test::serial;

use super::fake::{change, fail_next, fake, reset};
use super::fake_memory::MAPPED;
use super::fake_table::table;
use super::promises::{register, start};

const MIB: usize = 1 << 20;
/// Where the memory that is registered begins.
const BASE: usize = 1 << 30;

fn context() -> Context {
    reset();
    start(&table()).unwrap().device(0).unwrap().primary_context()
}

#[test]
#[serial]
fn registered_memory_has_an_address_for_kernels_if_it_is_mapped() {
    let context = context();
    let mapped = register(&context, BASE, 4096, HostUse::Mapped).unwrap();
    let [part] = mapped.parts().collect::<Vec<_>>()[..] else { panic!("one part") };
    assert_eq!((part.offset, part.size, part.device_address), (0, 4096, Some((BASE | MAPPED) as u64)));
    let twice = register(&context, BASE, 4096, HostUse::Pinned).expect_err("it is registered already");
    assert_eq!(twice.code(), Some(AclCode::HOST_MEMORY_ALREADY_REGISTERED));
    drop(mapped);
    let pinned = register(&context, BASE, 4096, HostUse::Pinned).unwrap();
    assert!(pinned.parts().all(|part| part.device_address.is_none()));
    drop(pinned);
    assert_eq!(fake().count("aclrtHostUnregister"), 2);
}

#[test]
#[serial]
fn what_cannot_be_registered_is_refused_before_acl_is_asked() {
    let context = context();
    let calls = fake().log.len();
    let error = register(&context, BASE + 512, 4096, HostUse::Mapped).expect_err("not aligned");
    assert!(
        matches!(error, AclError::Argument { parameter: "address", value, .. } if value == (BASE + 512) as u64)
    );
    let error = register(&context, BASE, 0, HostUse::Mapped).expect_err("nothing");
    assert!(matches!(error, AclError::Argument { parameter: "size", .. }));
    assert_eq!(fake().log.len(), calls);
}

#[test]
#[serial]
fn pinned_memory_is_unregistered_before_it_is_freed() {
    let context = context();
    let memory = PinnedMemory::allocate(&context, 100).unwrap();
    let mut registered = HostRegistration::of_pinned(&context, memory).unwrap();
    registered.memory_mut().unwrap().write(0, b"here").unwrap();
    let mut bytes = [0; 4];
    registered.memory().unwrap().read(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"here");
    drop(registered);
    let state = fake();
    assert_eq!(state.log[state.log.len() - 2..], ["aclrtHostUnregister", "aclrtFreeHost"]);
    assert_eq!(state.broken_rules, Vec::<String>::new());
}

/// Host memory is registered and allocated in parts where one piece is too much, and what worked is told where all parts
/// together are too much.
#[test]
#[serial]
fn c26_more_host_memory_than_the_driver_takes_comes_in_parts_or_the_error_says_how_much_it_takes() {
    let context = context();
    change(|state| state.host_limits = (64 * MIB, 200 * MIB));
    let registered = register(&context, BASE, 150 * MIB + 7, HostUse::Mapped).unwrap();
    let parts: Vec<_> = registered.parts().collect();
    assert!(parts.len() > 1 && parts.iter().all(|part| part.size <= 64 * MIB), "{parts:?}");
    let mut end = 0;
    for part in &parts {
        assert_eq!((part.offset, part.device_address), (end, Some(((BASE + end) | MAPPED) as u64)));
        end += part.size;
    }
    assert_eq!(end, 150 * MIB + 7);
    drop(registered);
    assert_eq!(fake().count("aclrtHostUnregister"), parts.len());

    let before = fake().left();
    let error = register(&context, BASE, 300 * MIB, HostUse::Pinned).expect_err("more than all");
    assert_eq!((error.kind(), fake().left()), (ErrorKind::OutOfMemory, before), "and nothing is kept");
    let AclError::HostLimit { asked, worked, .. } = error else { panic!("{error}") };
    assert_eq!(asked, 300 * MIB);
    assert!((199 * MIB..=200 * MIB).contains(&worked), "{worked}");
    drop(register(&context, BASE, worked, HostUse::Pinned).unwrap());

    change(|state| state.host_limits = (4 * MIB, 0));
    let pinned = PinnedMemory::allocate_in_parts(&context, 10 * MIB).unwrap();
    assert_eq!(pinned.iter().map(PinnedMemory::size).sum::<usize>(), 10 * MIB);
    assert!(pinned.iter().all(|memory| memory.size() <= 4 * MIB));
    drop(pinned);
    assert_eq!((fake().left(), fake().broken_rules), (before, Vec::new()));
}

#[test]
#[serial]
fn a_failure_that_is_no_limit_is_told_as_it_is() {
    let context = context();
    fail_next();
    let error = register(&context, BASE, 4096, HostUse::Mapped).expect_err("told to fail");
    assert_eq!(error.failed_call().map(|failed| failed.call), Some("aclrtHostRegister"));
    assert!(!matches!(error, AclError::HostLimit { .. }));
}

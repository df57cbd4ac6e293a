#!/usr/bin/env bash
# Runs tests under sanitizers, which takes minutes: not part of the gate.
#
#   ci/san.sh address   where `unsafe` lives: host-device, ascend-acl, and the core that they serve
#   ci/san.sh thread    threads that share a pool, with streams and without
#   ci/san.sh           both
#
# The runtimes come with the toolchain of rust-toolchain.toml; the switch to use them on a stable compiler is RUSTC_BOOTSTRAP. The
# standard library is not built anew, so that what ThreadSanitizer cannot see in it stands in ci/tsan-suppressions.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export RUSTC_BOOTSTRAP=1
target=$(rustc -vV | sed -n 's/^host: //p')

address() {
    # Leaks are wanted where tests let ACL refuse to release something.
    ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS="-Zsanitizer=address" cargo test --target "$target" --target-dir target/san-address \
        --package host-device --package mempool-core --lib --tests
    ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS="-Zsanitizer=address" cargo test --target "$target" --target-dir target/san-address \
        --package ascend-acl --lib --test owners --test older_library
}

thread() {
    TSAN_OPTIONS="suppressions=$PWD/ci/tsan-suppressions.txt" \
        RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" \
        cargo test --target "$target" --target-dir target/san-thread --package testkit --test threads --test stream_order
}

case ${1-both} in
    address) address ;;
    thread) thread ;;
    both) address && thread ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
esac

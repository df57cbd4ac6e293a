#!/usr/bin/env bash
# Runs the tests. Takes the arguments of `cargo xtask test`: --long adds the long property tests, in release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask test "$@"

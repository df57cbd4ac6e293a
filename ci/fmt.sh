#!/usr/bin/env bash
# Fails when a file is not formatted. `cargo fmt --all` repairs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask ci fmt

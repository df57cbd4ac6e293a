#!/usr/bin/env bash
# Fails when Cargo.lock does not fit the manifests. Runs before anything else, because any other call of cargo would
# bring the file up to date without a word. `cargo check` repairs it; commit the result.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo tree --locked --workspace --depth 0 >/dev/null
echo "lock: Cargo.lock fits the manifests"

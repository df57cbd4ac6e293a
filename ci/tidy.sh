#!/usr/bin/env bash
# Fails when the tree breaks a rule that neither the compiler nor clippy knows, such as an edge between two crates.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask tidy

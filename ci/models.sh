#!/usr/bin/env bash
# Fails when a scheduler that tries interleavings finds a race in the pool.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask ci models

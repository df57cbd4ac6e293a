#!/usr/bin/env bash
# Fails on any warning of the compiler or of clippy, in all targets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask ci lint

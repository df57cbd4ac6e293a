#!/usr/bin/env bash
# Runs the quick benchmark once, to see that it still runs. No figure makes it fail: a shared machine proves nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask bench --quick

#!/usr/bin/env bash
# Fails on any warning of rustdoc, such as a broken link.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo xtask ci doc

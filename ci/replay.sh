#!/usr/bin/env bash
# Replays traces with the release build of `mempool`, and fails when one is not served as it should be.
#
#   ci/replay.sh TRACE...            both policies: exit code 0, and no allocation that failed
#   ci/replay.sh --faulty TRACE...   traces with faults in them, read leniently: exit code 0 or 1, so never a crash
set -euo pipefail

faulty=false
if [[ ${1-} == --faulty ]]; then
    faulty=true
    shift
fi
if (($# == 0)); then
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi

# The paths are the caller's, so they are made absolute before the change of folder.
traces=()
for trace in "$@"; do
    if [[ ! -r $trace ]]; then
        echo "replay: $trace is not a readable file" >&2
        exit 2
    fi
    traces+=("$(realpath -- "$trace")")
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build --quiet --release --package mempool-cli
mempool=${CARGO_TARGET_DIR:-target}/release/mempool

out=$(mktemp -d)
trap 'rm -rf -- "$out"' EXIT

# Why the replay of one trace is not as it should be; nothing when it is.
complaint() { # exit code
    local code=$1
    if ((code >= 124)); then
        echo "killed or out of time (exit code $code)"
    elif ((code >= 100)); then
        echo "crashed (exit code $code)"
    elif $faulty; then
        ((code <= 1)) || echo "exit code $code where 0 or 1 is expected"
    elif ((code != 0)); then
        echo "exit code $code"
    elif ! grep -q '"failures" *:' "$out/stdout"; then
        echo 'the JSON has no field "failures"'
    elif grep -Eq '"failures" *: *[^ 0,}]' "$out/stdout"; then
        echo "allocations failed"
    fi
}

if $faulty; then
    options=(--lenient)
else
    options=(--policy both --compare --json)
fi
bad=0
for trace in "${traces[@]}"; do
    code=0
    timeout 120 "$mempool" replay "${options[@]}" "$trace" >"$out/stdout" 2>"$out/stderr" </dev/null || code=$?
    why=$(complaint "$code")
    if [[ -z $why ]]; then
        echo "replay: ok      $trace"
    else
        bad=$((bad + 1))
        echo "replay: FAILED  $trace: $why; to see it alone, run: mempool replay ${options[*]} $trace"
        cat "$out/stderr" "$out/stdout" | tail -n 8 | cut -c 1-200 | sed "s/^/    /"
    fi
done
echo "replay: $((${#traces[@]} - bad)) of ${#traces[@]} traces as expected"
((bad == 0))

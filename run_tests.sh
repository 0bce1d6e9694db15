#!/usr/bin/env bash
# All tests, a few minutes. With PRENET_DATA=DIR also those that need the real data sets.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# two processes, a file at a time, in order: the last files are short, so that both end together
"$python" -m pytest tests -q -rs -n 2 --dist loadfile --no-loadscope-reorder "$@"

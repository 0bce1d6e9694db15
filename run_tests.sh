#!/usr/bin/env bash
# All tests, 3 to 6 minutes on 2 cores. --quick as the first option runs a subset for use while working, in under a minute.
# PRENET_DATA=DIR adds the tests that need the real data sets.
set -euo pipefail
cd "$(dirname "$0")"
REQUIREMENTS=requirements-dev.txt
source ./setup_env.sh

chosen=()
if [ "${1:-}" = --quick ]; then
  chosen=(-m "not slow")
  shift
fi
# two processes, a file at a time, in order: the last files are short, so that both end at about the same time
"$python" -m pytest tests -q -rs -n 2 --dist loadfile --no-loadscope-reorder ${chosen[@]+"${chosen[@]}"} "$@"

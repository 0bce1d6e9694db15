#!/usr/bin/env bash
# Every table and figure of the paper: Tables 2, 3, 4 and Figs. 2 to 5, then the comparison of all with the published numbers.
# Stopped and started again, it goes on where it was. About an hour on 2 cores.
#   ./run_all.sh --demo      (on synthetic data in two minutes: does everything work here?)
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# seen, unseen, labels, contamination, ablation, sensitivity; each also has its own run_*.sh
"$python" experiments.py all "$@"

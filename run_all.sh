#!/usr/bin/env bash
# Every table and figure of the paper: Tables 2, 3, 4 and Figs. 2 to 5, then the comparison with the published numbers.
# If it is stopped, run it again to resume. One to two hours on 2 cores.
#   ./run_all.sh --demo      (two minutes on synthetic data, to check that everything works)
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# seen, unseen, labels, contamination, ablation, sensitivity; each also has its own run_*.sh
exec "$python" experiments.py all "$@"

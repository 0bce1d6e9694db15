#!/usr/bin/env bash
# Fig. 4: PReNet with 0, 2, 5 and 10% contamination of the unlabelled data, 12 sets, 10 runs. Writes results/contamination_runs.csv,
# results/contamination.csv and results/figures/contamination (.png, .svg). A few minutes on 2 cores.
#   ./run_contamination.sh --theorem      (up to 66%, with mean scores and those that the theorem of Sec. 4 predicts)
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

exec "$python" experiments.py contamination "$@"

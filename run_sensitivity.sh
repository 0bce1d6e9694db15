#!/usr/bin/env bash
# Fig. 5: PReNet with margin m 0.25 to 8, ensemble size E 1 to 50 and lambda 0.001 to 0.1, one at a time, 12 sets, 10 runs.
# Writes results/sensitivity_runs.csv, results/sensitivity.csv and results/figures/sensitivity (.png, .svg). About a
# quarter of an hour on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

exec "$python" experiments.py sensitivity "$@"

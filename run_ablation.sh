#!/usr/bin/env bash
# Table 4: PReNet and its variants TRM, iPReNet, LDM, A2H and NPR, 12 sets, 10 runs. Writes results/ablation_runs.csv and
# results/ablation.csv, compares with published/ablation.csv. About 10 minutes on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

"$python" experiments.py ablation "$@"

#!/usr/bin/env bash
# Table 4: PReNet and its variants TRM, iPReNet, LDM, A2H and NPR, 12 sets, 10 runs. Writes results/ablation_runs.csv and
# results/ablation.csv, and compares with published/ablation.csv. About half an hour on 2 cores, most of it for A2H.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

exec "$python" experiments.py ablation "$@"

#!/usr/bin/env bash
# Does an outside implementation agree? Compares ADGym's committed results (published/adgym.csv) with ours on the same draws:
# 5, 10 and 20 labels, 3 seeds, features unscaled and with a MinMaxScaler. Writes results/crosscheck_runs.csv, crosscheck_cells.csv,
# crosscheck_methods.csv and crosscheck.md. Needs ADBench's N_name.npz files; missing ones are skipped.
# Half an hour to an hour on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# methods: prenet, devnet, dsad, repen, feawad, xgbod, logistic, random-forest, xgboost, catboost
"$python" experiments.py crosscheck --protocol outside "$@"
"$python" experiments.py crosscheck --protocol outside-scaled "$@"

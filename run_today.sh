#!/usr/bin/env bash
# What would one use today? The ten methods, plain classifiers, the cross-entropy control and RoSAS, with 5, 20 and 60 labels, a new
# split and new labels in each of 10 draws, 8 data sets. Writes results/today_runs.csv, today.csv, today.md, today_*.csv and
# results/figures/today (.png, .svg). CatBoost, the random forest and XGBOD take most of the time: hours on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# data sets: donors, census, fraud, celeba, bac, w7a, campaign, thyroid; --methods prenet,catboost runs only these
exec "$python" experiments.py today "$@"

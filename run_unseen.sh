#!/usr/bin/env bash
# Table 3: detection of unseen anomalies, 28 sets (seen classes->unseen class) of the UNSW-NB15 attacks dos, rec, fuz and bac,
# 10 runs. Writes results/unseen_runs.csv and results/unseen.csv, and compares with published/unseen.csv. 5 to 15 minutes
# on 2 cores.
#   ./run_unseen.sh --methods prenet,devnet --datasets 'rec,fuz->dos' --runs 3
#   ./run_unseen.sh --lambda 0.1       (the l2 weight of the authors' script, in separate files; the paper says 0.01)
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# methods: the seven of Table 2; iForest, which uses no labels, once per unseen class. --methods all adds xgbod, pumad, feawad
# unseen classes: bac, dos, fuz, rec; seen: every combination of the other three
exec "$python" experiments.py unseen "$@"

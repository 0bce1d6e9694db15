#!/usr/bin/env bash
# What the text leaves open, read in other ways: the readings that methods.py lists, of PReNet, DevNet, DSAD, FSNet, cFSNet and REPEN,
# 8 data sets, 10 runs. Writes results/readings_runs.csv and results/readings.csv, compares with published/seen.csv.
# About 10 minutes on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# data sets: donors, census, fraud, celeba, bac, w7a, campaign, thyroid; --methods dsad-plain,fsnet-natural runs some only
"$python" experiments.py readings "$@"

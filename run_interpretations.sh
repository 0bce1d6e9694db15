#!/usr/bin/env bash
# Other interpretations of what the text leaves open, as listed in weakly/methods.py: of PReNet and its ablation, DevNet, DSAD, FSNet,
# cFSNet, REPEN and FEAWAD, 8 data sets, 10 runs. Writes results/interpretations_runs.csv and results/interpretations.csv, and
# compares with Tables 2 and 4.
# One to two hours on 2 cores, most of it for a2h-no-dropout and feawad-raw-residual.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# data sets: donors, census, fraud, celeba, bac, w7a, campaign, thyroid; --methods dsad-plain,fsnet-natural runs only these
exec "$python" experiments.py interpretations "$@"

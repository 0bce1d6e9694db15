#!/usr/bin/env bash
# Table 2: detection of seen anomalies, 12 data sets, 10 runs. Writes results/seen_runs.csv and results/seen.csv,
# compares with published/seen.csv. Takes minutes, of which installing the requirements is a good part the first time.
#   ./run_seen.sh --methods prenet,devnet --datasets thyroid,bac --runs 3      (./run_seen.sh --help shows all options)
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

METHODS=prenet,devnet,iforest
DATASETS=all # donors,census,fraud,celeba,dos,rec,fuz,bac,w7a,campaign,news20,thyroid: those that can be had

"$python" experiments.py seen --methods "$METHODS" --datasets "$DATASETS" "$@"

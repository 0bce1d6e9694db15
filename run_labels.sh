#!/usr/bin/env bash
# Figs. 2 and 3: AUC-PR with 15, 30, 60, 90 and 120 labelled anomalies, 10 runs, on the 12 seen sets and on the 14 unseen sets
# with the highest published AUC-PR, averaged over the six methods. Writes results/labels_runs.csv, results/labels.csv and
# results/figures/labels_seen and labels_unseen (.png, .svg). About half an hour on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# methods: prenet, devnet, dsad, fsnet, cfsnet, repen (iForest uses no labels)
exec "$python" experiments.py labels "$@"

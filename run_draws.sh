#!/usr/bin/env bash
# What affects the numbers: PReNet and DevNet on the eight exact sets. In 10 runs each, one factor is redrawn and all others are
# fixed: the split, the labelled anomalies, the contamination, the initial weights; then all of them are redrawn. Appends to
# results/seen_runs.csv; compare.py shows the spreads. About 6 minutes on 2 cores.
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

datasets=donors,census,fraud,celeba,bac,w7a,campaign,thyroid
for protocol in released redrawn redrawn-split redrawn-labels redrawn-contamination; do
  "$python" experiments.py seen --methods prenet,devnet --datasets "$datasets" --protocol "$protocol" "$@"
done

#!/usr/bin/env bash
# Table 2: detection of seen anomalies, 12 data sets, 10 runs. Writes results/seen_runs.csv and results/seen.csv,
# and compares with published/seen.csv. The first start installs the requirements in a minute or two; all data sets that
# we have then take under 5 minutes on 2 cores. Relative folders (PRENET_DATA, --source, --results-dir) are relative to this one.
#   ./run_seen.sh --methods prenet,devnet --datasets thyroid,bac --runs 3      (./run_seen.sh --help shows all options)
set -euo pipefail
cd "$(dirname "$0")"
source ./setup_env.sh

# methods: the seven of Table 2 (prenet, devnet, dsad, fsnet, cfsnet, repen, iforest); --methods all adds xgbod, pumad, feawad
# data sets: those available of donors, census, fraud, celeba, dos, rec, fuz, bac, w7a, campaign, news20, thyroid
exec "$python" experiments.py seen "$@"

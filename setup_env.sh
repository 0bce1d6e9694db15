# shellcheck shell=bash
# Sourced by the run_*.sh scripts: creates .venv with the pinned requirements if necessary, and sets $python to its
# interpreter. Quick if nothing has changed. PYTHON=/path/to/python3.12 selects the base interpreter.
# REQUIREMENTS=requirements-dev.txt, as in run_tests.sh, adds the requirements of the tests.
python=.venv/bin/python
wanted=${REQUIREMENTS:-requirements.txt}
if ! cmp -s requirements.txt .venv/requirements.installed || ! "$python" -c '' 2>/dev/null; then
  for base in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
    "$base" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null && break || base=
  done
  if [ -z "$base" ]; then
    echo "This project needs Python 3.10 to 3.13${PYTHON:+, but $PYTHON is not one of them}; set PYTHON=/path/to/python3." >&2
    exit 1
  fi
  echo "Installing the requirements into .venv (once, a few minutes)..." >&2
  "$base" -m venv --clear .venv
  "$python" -m pip install --quiet --disable-pip-version-check -r requirements.txt >&2
  cp requirements.txt .venv/requirements.installed
fi
if [ -n "${PYTHON:-}" ] && ! cmp -s <("$PYTHON" -V 2>&1) <("$python" -V 2>&1); then
  echo "Using .venv with $("$python" -V), not $PYTHON: delete .venv to change that." >&2
fi
if [ "$wanted" != requirements.txt ] && ! cmp -s "$wanted" ".venv/$wanted.installed"; then
  echo "Installing the requirements of the tests into .venv (once)..." >&2
  "$python" -m pip install --quiet --disable-pip-version-check -r "$wanted" >&2
  cp "$wanted" ".venv/$wanted.installed"
fi

# shellcheck shell=bash
# Sourced by the run_*.sh scripts: creates .venv with the versions of requirements.lock if necessary, and sets $python to
# its interpreter. Quick if nothing has changed. PYTHON=/path/to/python3.12 selects the base interpreter.
# REQUIREMENTS=requirements-dev.txt, as in run_tests.sh, adds the requirements of the tests.
python=.venv/bin/python
wanted=${REQUIREMENTS:-requirements.txt}

is_installed() { # the list $1 and its lock, as they are now
  cmp -s <(cat "$1" "${1%.txt}.lock" 2>/dev/null) ".venv/${1%.txt}.installed" && "$python" -c '' 2>/dev/null
}

install_list() { # the list $1 with its lock; alone if the lock lacks something for this platform
  local lock=${1%.txt}.lock pip=("$python" -m pip install --quiet --disable-pip-version-check) output
  echo "Installing $1 into .venv (once, a few minutes)..." >&2
  if ! output=$("${pip[@]}" --require-hashes -r "$lock" -r "$1" 2>&1); then
    echo "$output" >&2
    case $output in
      *"connection broken"*) exit 1 ;; # pip goes on to say that there is no matching distribution
      *"No matching distribution"* | *"Hashes are required"* | *"must have their versions pinned"*) ;;
      *) exit 1 ;; # files with other hashes, a full disk
    esac
    echo "$lock does not fit this platform: installing $1 without it; versions that $1 does not name may differ." >&2
    "${pip[@]}" -r "$1" >&2 || exit 1
  fi
  cat "$1" "$lock" >".venv/${1%.txt}.installed"
}

if ! is_installed requirements.txt || ! is_installed "$wanted"; then
  if [ -L .venv ]; then
    echo ".venv is a symbolic link, and $(readlink .venv) would be emptied: delete the link." >&2
    exit 1
  fi
  for base in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
    "$base" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null && break || base=
  done
  if [ -z "$base" ]; then
    echo "This project needs Python 3.10 to 3.13${PYTHON:+, but $PYTHON is not one of them}; set PYTHON=/path/to/python3." >&2
    exit 1
  fi
  # One start at a time. This shell and its pip hold the lock, by file 9; however they end, it ends with them.
  exec 9>>requirements.txt
  "$base" -c 'import fcntl, sys
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("Another start is installing into .venv: waiting until it ends (Ctrl-C to stop).", file=sys.stderr)
    fcntl.flock(9, fcntl.LOCK_EX)' || echo "No lock: do not start a second time until this is installed." >&2
  is_installed requirements.txt || { "$base" -m venv --clear .venv && install_list requirements.txt; } || exit 1
  is_installed "$wanted" || install_list "$wanted" || exit 1
  exec 9>&-
fi
if [ -n "${PYTHON:-}" ] && ! cmp -s <("$PYTHON" -V 2>&1) <("$python" -V 2>&1); then
  echo "Using .venv with $("$python" -V), not $PYTHON: delete .venv to change that." >&2
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Python package as a wheel: tools/build_wheel.sh [--program] [FOLDER]   (default: out/wheel)
# `pip install FOLDER/karst-*.whl` then needs only NumPy and h5py. With --program, on Debian on x86-64, the program is in the wheel,
# with all that it needs on any Linux (tools/bundle_program.py). From the repository, without the program: pip install ./python
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=
[[ ${1:-} == --program ]] && { program=1; shift; }
folder=${1:-out/wheel}
tools/install_dependencies.sh python
mkdir -p "$folder"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$parts" ./python
if [[ -z $program ]]; then
  mv "$parts"/karst-*.whl "$folder"
  ls "$folder"/karst-*-py3-none-any.whl
  exit
fi
tools/install_dependencies.sh build
tools/build_package.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # the installation asks the program for its manual page
cmake --install build/package --prefix "$parts/prefix" >/dev/null
.venv/bin/python tools/bundle_program.py "$parts/prefix" "$parts"/karst-*.whl "$folder"

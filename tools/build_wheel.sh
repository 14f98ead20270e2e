#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Python package as a wheel: tools/build_wheel.sh [FOLDER]   (default: out/wheel) `pip install FOLDER/karst-*.whl` then needs
# only NumPy and h5py. From the repository: pip install ./python
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-out/wheel}
tools/install_dependencies.sh python
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$folder" ./python
ls "$folder"/karst-*.whl

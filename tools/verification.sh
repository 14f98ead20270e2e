#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the reference cases and rewrites the generated part of docs/verification.md and its plots. Builds what is needed first. Rocks are
# searched in the folder KARST_TEST_DATA, otherwise in ../shared/data next to the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${KARST_BUILD:-build/release}
[[ -n ${KARST_BUILD:-} ]] || tools/build.sh release tests tests_of_the_night   # KARST_BUILD: use what is built there, install nothing
export OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec .venv/bin/python tools/verification.py --build "$build"

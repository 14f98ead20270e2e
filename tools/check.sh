#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All checks before a change is submitted: format, layers and sizes, clang-tidy on the changed files, the unit tests with asserts and
# floating-point traps (debug), then build, decks and all tests (release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/install_dependencies.sh checks
tools/format.sh --check
tools/check_layers.py
tools/build.sh debug tests benchmarks
KARST_BUILD=build/debug tools/tidy.sh
ctest --test-dir build/debug -L unit --output-on-failure -j "$(nproc)"
tools/test.sh
echo "all checks passed"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing dependencies, builds, and runs all tests. With --nightly also the long tests, the sanitizers, the package and the site.
#   tools/test.sh [--nightly] [further arguments of ctest, such as -R grid]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
nightly=0
if [[ ${1:-} == --nightly ]]; then
  nightly=1
  shift
fi
tools/install_dependencies.sh checks
if ((nightly)); then
  tools/build.sh release tests tests_of_the_night benchmarks
else
  tools/build.sh release tests
fi
without=(-LE nightly)
if ((nightly)); then
  without=()
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r tools/requirements_nightly.txt </dev/null ||
    echo "Without these packages the comparisons with PHREEQC, PoreSpy and OpenPNM are skipped." >&2
  phreeqcrm=$PWD/build/phreeqcrm
  { tools/build_phreeqcrm.sh "$phreeqcrm" &&
    cmake --preset release -B build/with-phreeqcrm -DKARST_PHREEQCRM=ON -DPhreeqcRM_ROOT="$phreeqcrm" >/dev/null &&
    cmake --build build/with-phreeqcrm --target karst; } ||
    echo "Without PhreeqcRM the comparison of both engines of the chemistry is skipped." >&2
  tools/sanitize.sh
  tools/package.sh
  tools/site.sh
fi
built=$SECONDS
status=0
# Two more than there are processors: tests wait for ranks, starts and disks.
ctest --test-dir build/release --output-on-failure -j "$(($(nproc) + 2))" "${without[@]}" "$@" || status=$?
echo "Tests: $SECONDS s, of which $((SECONDS - built)) s after the build"
exit $status

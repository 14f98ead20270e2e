#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds PhreeqcRM (USGS, public domain) from the sources in its Python package, for the engine "phreeqcrm" of the chemistry:
#   tools/build_phreeqcrm.sh [PREFIX]      (default: build/phreeqcrm)
# Three minutes on two cores; then configure Karst as described in the last line of output.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=0.0.20
prefix=$(realpath -m "${1:-build/phreeqcrm}")
if [[ ! -f $prefix/lib/libPhreeqcRM.a ]]; then
  work=$prefix/source
  mkdir -p "$work"
  .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary phreeqcrm --dest "$work" "phreeqcrm==$version" </dev/null
  tar -xf "$work/phreeqcrm-$version.tar.gz" -C "$work"
  cmake -G Ninja -S "$work/phreeqcrm-$version" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON >"$work/configure.log"
  cmake --build "$work/build" --target PhreeqcRM >"$work/build.log" || { tail -n 30 "$work/build.log" >&2; exit 1; }
  cmake --install "$work/build" >"$work/install.log"
  rm -r "$work"
fi
echo "cmake --preset release -DKARST_PHREEQCRM=ON -DPhreeqcRM_ROOT=$prefix"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds what the Debian package and the wheel with the program contain, in build/package: the program for all processors of this
# architecture and, on x86-64, the one for processors with AVX2 (docs/decisions/070-programs-to-install.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
faster=
if [[ $(uname -m) == x86_64 ]]; then
  cmake --preset package-v3 >/dev/null
  cmake --build --preset package-v3
  faster=$PWD/build/package-v3/karst
fi
cmake --preset package -DKARST_FASTER="$faster" >/dev/null
cmake --build --preset package

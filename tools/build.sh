#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, configures and builds: tools/build.sh [PRESET]   (default: release)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
tools/install_dependencies.sh
mkdir -p "build/$preset"
log=build/$preset/configure.log
if ! cmake --preset "$preset" >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "Configuring failed (last lines above; all of them in $log)." >&2
  exit 1
fi
cmake --build --preset "$preset"

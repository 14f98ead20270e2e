#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing dependencies, configures and builds: tools/build.sh [PRESET [TARGET...]]   (default: release, the programs; further
# targets: tests, benchmarks) The Python packages, which only tests and plots need, are installed while the compiler runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
targets=(all "${@:2}")
tools/install_dependencies.sh packages
packages=$SECONDS
setsid tools/install_dependencies.sh python &
python=$!
trap 'kill -- "-$python" 2>/dev/null || true' EXIT
mkdir -p "build/$preset"
log=build/$preset/configure.log
if ! cmake --preset "$preset" >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "Configuring failed (last lines above; all of them in $log)." >&2
  exit 1
fi
configured=$SECONDS
cmake --build --preset "$preset" --target "${targets[@]}"
compiled=$SECONDS
wait "$python" || { echo "The program is built; the Python packages could not be installed (messages above)." >&2; exit 1; }
trap - EXIT
echo "Built in $SECONDS s: packages $packages s, configuration $((configured - packages)) s, compilation $((compiled - configured)) s," \
  "waiting for Python packages $((SECONDS - compiled)) s"

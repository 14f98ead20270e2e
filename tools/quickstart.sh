#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh machine to the permeability of a rock image: installs missing dependencies, builds, generates a gray-scale CT-like image of a
# packing of grains, imports it, generates cut cells, solves for the flow, plots it. Results: out/quickstart.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OPENBLAS_NUM_THREADS=1
build=${KARST_BUILD:-build/release}
karst=$build/karst
out=out/quickstart
[[ -n ${KARST_BUILD:-} ]] || tools/build.sh release   # KARST_BUILD: use what is built there, install nothing
built=$SECONDS
mkdir -p "$out"

# Every file appears under its name only when it is complete: one that is newer than what it is made from can stay.
up_to_date() {  # FILE made-from...
  local file=$1 from
  shift
  for from in "$@"; do [[ $file -nt $from ]] || return 1; done
}

image=$out/rock.tif rock=$out/rock.h5 deck=inputs/quickstart/quickstart.toml
run=$out/results
plotfile=$run/plot.vtkhdf
up_to_date "$image" "$build/karst-make-image" || "$build/karst-make-image" -o "$image" --voxel 5e-6
up_to_date "$rock" "$image" "$karst" || "$karst" import "$image" -o "$rock" --overwrite
if up_to_date "$run/summary.json" "$rock" "$karst" "$deck"; then
  cat "$run/log.txt"
else
  "$karst" run "$deck" --out "$run" --overwrite
fi
draw() {  # KIND made-from PICTURE [arguments]
  local kind=$1 from=$2 picture=$3
  shift 3
  up_to_date "$picture" "$from" "python/karst/plot/$kind.py" || .venv/bin/python -m karst.plot "$kind" "$from" -o "$picture" "$@"
}
pictures=()
draw_beside() { draw "$@" & pictures+=($!); }
draw_beside slice "$plotfile" "$out/slice.png" --title "Quickstart: fluid and wall, plane in the middle"
draw_beside slice "$plotfile" "$out/flow.png" --field drive_x_velocity_x --axis z --no-boxes --title "Quickstart: velocity along x, flow driven along x [m/s]"
draw_beside wall "$plotfile" "$out/wall.png" --max-cells 128
draw_beside view "$plotfile" "$run/view.html"
draw_beside figure "$run/report.html" "$out/streamlines.svg"
for picture in "${pictures[@]}"; do wait "$picture"; done

echo
.venv/bin/python - "$run" <<'PYTHON'
import sys

import karst

summary = karst.Summary.read(sys.argv[1])
for d, axis in enumerate("xyz"):
    print(f"Permeability along {axis}: {summary.permeability_m2[d, d]:.4g} m2 = {summary.permeability_darcy[d, d]:.4g} darcy")
PYTHON
echo
echo "Import, page   $out/rock.html"
echo "Results, page  $run/report.html"
echo "Results        $run/summary.json"
echo "To turn, page  $run/view.html"
echo "Streamlines    $out/streamlines.svg"
echo "Flow, picture  $out/flow.png"
echo "Wall, picture  $out/wall.png"
echo "Slice, picture $out/slice.png"
echo "Plotfile       $plotfile   (ParaView, yt, Python: docs/open-results.md)"
echo "Quickstart: $SECONDS s, of which $((SECONDS - built)) s after the build"

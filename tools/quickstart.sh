#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh machine to the cut cells of a rock image: installs what is missing, builds, makes a gray-scale CT-like
# image of a packing of grains, imports it, cuts it, draws it. Results: out/quickstart.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OPENBLAS_NUM_THREADS=1
karst=build/release/karst
out=out/quickstart
tools/build.sh release
mkdir -p "$out"

# Every file appears under its name only when it is complete, so what is there and newer than the program can be kept.
if [[ ! $out/rock.tif -nt build/release/karst-make-image ]]; then
  build/release/karst-make-image "$out/rock.tif"
fi
if [[ ! $out/rock.h5 -nt $out/rock.tif || ! $out/rock.h5 -nt $karst ]]; then
  "$karst" import "$out/rock.tif" -o "$out/rock.h5" --voxel 5e-6
fi
"$karst" geometry inputs/quickstart/quickstart.toml --out "$out/geometry" --overwrite "geometry.image=$PWD/$out/rock.h5"

plotfile=$(ls -t "$out"/geometry/*.vtkhdf | head -n 1)
.venv/bin/python tools/plot_slice.py "$plotfile" --title "Quickstart: fluid and wall, plane in the middle" -o "$out/slice.png"
.venv/bin/python tools/plot_wall.py "$plotfile" -o "$out/wall.png"

echo
echo "Results        $out/geometry/summary.json"
echo "Wall, picture  $out/wall.png"
echo "Slice, picture $out/slice.png"
echo "Plotfile       $plotfile   (ParaView, yt, VisIt)"

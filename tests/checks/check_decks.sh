#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every deck of inputs/ passes `karst check` (or `karst speciate`, or `karst study --list`), docs/inputs.md and docs/studies.md agree with
# the program's description of its keys, and (canary) a misspelt key is rejected.   check_decks.sh FOLDER_OF_THE_PROGRAMS [--full]
# In short decks of a geometry and a job that another deck has, too, are read only: all errors of a deck are reported together, so of
# a correct deck and a misspelt key the key is the one error. Packings of 48 or 64 cells a side are looked at on 32.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
programs=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r inputs "$folder/inputs"
mkdir -p "$folder/out/quickstart" "$folder/out/reactive-rock"  # where decks look for their images
"$programs/karst-make-image" -o "$folder/rock.tif" --size 48 --voxel 5e-6 >/dev/null
"$programs/karst-make-image" -o "$folder/out/quickstart/rock.tif" --voxel 5e-6 >/dev/null
"$programs/karst" import "$folder/rock.tif" -o "$folder/out/quickstart/rock.h5" >/dev/null
cp "$folder/out/quickstart/rock.h5" "$folder/out/reactive-rock/rock.h5"

label_image() {  # FOLDER_OF_out MINERALS
  mkdir -p "$folder/out/$1"
  "$programs/karst-make-image" -o "$folder/gray.tif" --labels "$folder/labels.tif" --kind polyhedra --size 32 --radius 8 --porosity 0.5 \
    --minerals "$2" >/dev/null
  "$programs/karst" import "$folder/labels.tif" -o "$folder/out/$1/rock.h5" --labels "$folder/labels.tif.json" >/dev/null
}
label_image minerals quartz:0.7:180,calcite:0.3:215
label_image mixed-grains calcite:0.35:215,dolomite:0.35:225,quartz:0.3:180

alike="calcite-disc/calcite-disc calcite-disc/chemistry calcite-grains/calcite-grains cavity/in_time channel-2d/channel
  column/column cylinder-wake/cylinder-wake cylinder-wake/dye cylinder/cylinder deposits/mixing dissolution/cement
  dissolution/chemistry exchange/exchange inertia/sample stated-error/stated-error studies/sample
  mixed-grains/mixed-grains patterns/patterns pulsed/pulsed quickstart/quickstart reactive/reactive spheres/spheres tracer/tracer unsteady/unsteady"
misspelt="error: command line: grid.bxo: unknown key; did you mean grid.box?"
failed=0
while IFS= read -r deck; do
  command=(check)
  if grep -q '^deck = ' "$deck"; then
    command=(study --list)
  elif ! grep -q '^\[grid\]\|^\[geometry\]' "$deck"; then
    command=(speciate)
  fi
  coarser=()
  if [[ ${2:-} != --full ]]; then
    name=${deck#"$folder/inputs/"}
    if [[ " ${alike//$'\n'/ } " == *" ${name%.toml} "* ]]; then
      "$programs/karst" check "$deck" grid.bxo=16 >"$folder/log" 2>&1 || true
      [[ $(<"$folder/log") == "$misspelt" ]] || { failed=1; echo "$name: karst check refuses it:"; cat "$folder/log"; }
      continue
    fi
    if grep -q '^cells = \[\(64, 64, 64\|48, 48, 48\)\]' "$deck"; then coarser=("grid.cells=[32,32,32]"); fi
  fi
  "$programs/karst" "${command[@]}" "$deck" "${coarser[@]}" >"$folder/log" 2>&1 || { failed=1; echo "${deck#"$folder/"}: karst ${command[*]} refuses it:"; cat "$folder/log"; }
done < <(find "$folder/inputs" -name '*.toml' | sort)

if "$programs/karst" check "$folder/inputs/spheres/spheres.toml" grid.bxo=16 >"$folder/log" 2>&1 || ! grep -q 'grid.box' "$folder/log"; then
  echo "a misspelt key passes, or the nearest key is not named:" && cat "$folder/log" && failed=1
fi
"$programs/karst" help --markdown >"$folder/inputs.md"
diff -u docs/inputs.md "$folder/inputs.md" || { failed=1; echo "docs/inputs.md is out of date; run: build/release/karst help --markdown > docs/inputs.md"; }
"$programs/karst" help --study --markdown >"$folder/studies.md"
diff -u docs/studies.md "$folder/studies.md" || { failed=1; echo "docs/studies.md is out of date; run: build/release/karst help --study --markdown > docs/studies.md"; }
exit $failed

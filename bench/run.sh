#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds in release mode, runs benchmarks, and writes their raw output with a description of the machine:
#   bench/run.sh                      all of these:
#   bench/run.sh geometry [FILE]      geometry and import, into bench/results.txt
#   bench/run.sh solvers [FILE]       elliptic solvers, into bench/results-solvers.txt
#   bench/run.sh flow [FILE]          steady Stokes, from images to permeabilities, into bench/results-flow.txt
# Without FILE, the tables of docs/performance.md are rewritten (bench/tables.py). Use a machine without other load. Rocks are searched in
# the folder KARST_TEST_DATA, otherwise in ../shared/data next to the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
selection=${1:-all}
case $selection in
  all) [[ $# -le 1 ]] && bench/run.sh geometry && bench/run.sh solvers && exec bench/run.sh flow ;;
  geometry) results=${2:-bench/results.txt} ;;
  solvers) results=${2:-bench/results-solvers.txt} ;;
  flow) results=${2:-bench/results-flow.txt} ;;
esac
[[ -n ${results:-} ]] || { echo "usage: bench/run.sh [all] | geometry|solvers|flow [FILE]" >&2; exit 2; }
build=${KARST_BUILD:-build/release}
if [[ -z ${KARST_BUILD:-} ]]; then  # KARST_BUILD: use what is built there, install nothing
  tools/install_dependencies.sh
  tools/build.sh release benchmarks
fi
rocks=${KARST_TEST_DATA:-../shared/data}
repeats=3
export OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

work=$(mktemp -d)
trap 'rm -rf "$work" "$results.new"' EXIT
: >"$results.new"

record() {  # NAME command... : runs it; its output goes under a heading
  local name=$1
  shift
  echo "$name" >&2
  { echo "## $name"; "$@"; echo; } >>"$results.new"
}
machine() {
  lscpu | sed -n 's/^Model name: */processor: /p' | head -n 1
  echo "cores: $(nproc)"
  lscpu | sed -n 's/^L3 cache: */L3 cache: /p'
  awk '/MemTotal/ {printf "memory: %.0f GiB\n", $2 / 1048576}' /proc/meminfo
  echo "load before the start: $(cut -d" " -f1 /proc/loadavg)"
  echo "compiler: $(c++ --version | head -n 1)"
  echo "karst: $("$build/karst" --version | head -n 1)"
}
geometry() {  # box, then arguments of karst geometry: the summary as one line
  local box=$1
  shift
  "$build/karst" geometry "$@" --out "$work/run" --overwrite -j 1 "grid.box=$box" >/dev/null
  python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))))' "$work/run/summary.json"
}

rock() {  # NAME voxels: `karst geometry`, and the sweep for Ketton
  local name=$1 n=$2 box
  [[ -f $rocks/${name}_$n.raw.gz ]] || { echo "left out: no ${name}_$n.raw.gz in $rocks" >&2; return; }
  gzip -dc "$rocks/${name}_$n.raw.gz" >"$work/$name.raw"
  "$build/karst" import "$work/$name.raw" -o "$work/$name.h5" --size "$n,$n,$n" --type uint8 --voxel 5e-6 --pore 0 >/dev/null
  printf '[geometry]\nimage = "%s.h5"\n' "$name" >"$work/$name.toml"
  for box in 8 16 32; do record "file $name $box" geometry "$box" "$work/$name.toml"; done
  for box in 16 32; do
    record "sweep $name repeated to 2 x 2 x 2, box $box" "$build/bench/bench_sweep" raw "$work/$name.raw" "$n" "$n" "$n" "$box" 2
  done
}
geometry_benchmarks() {
  for ((i = 0; i < repeats; ++i)); do
    record "cut 128 16" "$build/bench/bench_cut" 128 16
    for box in 8 16 32; do
      for threads in 1 2; do
        record "geometry 128 $box $threads" "$build/bench/bench_geometry" 128 10 0.35 "$box" "$threads"
      done
    done
  done
  for threads in 1 2; do
    record "geometry 256 16 $threads" "$build/bench/bench_geometry" 256 10 0.35 16 "$threads"
  done
  record layout "$build/bench/bench_layout"
  for porosity in 0.35 0.60; do
    record "sweep packing, porosity $porosity, box 16" "$build/bench/bench_sweep" packing "$porosity" 16
  done
  for box in 8 16 32; do
    record "file packing $box" geometry "$box" inputs/spheres/spheres.toml 'grid.cells=[128,128,128]'
  done
  record "import gray 256" python3 bench/bench_import.py "$build" 256
  record "import segmented 256" python3 bench/bench_import.py "$build" 256 --segmented
  rock ketton 128
  rock berea 110
}

elliptic() {  # cells, ranks, threads, preconditioners, shape: whole solves
  record "elliptic $5 $1 $2 $3" env OMP_NUM_THREADS="$3" mpirun --oversubscribe --bind-to none -n "$2" \
    "$build/bench/bench_elliptic" "$1" "$3" "$4" 16 "$5"
}
solver_benchmarks() {  # about 5 minutes on two cores
  local size=${KARST_BENCH_CELLS:-128} threads
  elliptic 32 1 1 graph,gamg,hypre packing
  elliptic 64 1 1 graph,gamg,hypre packing
  elliptic "$size" 1 1 graph,gamg,hypre packing
  elliptic "$size" 1 2 graph packing
  elliptic "$size" 2 1 graph,gamg,hypre packing
  elliptic $((2 * size)) 1 2 graph packing
  elliptic 64 1 1 graph,gamg fractures
  elliptic 64 1 1 graph empty
  for threads in 1 2; do record "operator $threads" "$build/bench/bench_operator" "$size" 32 "$threads"; done
}

stokes() {  # cells, ranks, threads
  record "stokes $1 $2 $3" env OMP_NUM_THREADS="$3" OMP_WAIT_POLICY=passive mpirun --oversubscribe --bind-to none -n "$2" \
    "$build/bench/bench_stokes" "$1" 10 1e-6 "$3"
}
permeability() {  # NAME voxels axis ranks threads: from the raw file to the permeability, the whole process
  local name=$1 n=$2 axis=$3 ranks=$4 threads=$5
  printf '[geometry]\nimage = "%s.raw"\n[geometry.import]\nsize = [%d, %d, %d]\ntype = "uint8"\nvoxel = 5.3e-6\npore = 0\n' \
    "$name" "$n" "$n" "$n" >"$work/$name.toml"
  printf '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["%s"]\nsides = "no-slip"\ntolerance = 1e-6\n[output]\nplot = []\n' \
    "$axis" >>"$work/$name.toml"
  local start end launch=()
  [[ $ranks == 1 ]] || launch=(mpirun --oversubscribe --bind-to none -n "$ranks")
  start=$(date +%s.%N)
  env OMP_NUM_THREADS="$threads" "${launch[@]}" "$build/karst" run "$work/$name.toml" --out "$work/run" --overwrite >/dev/null
  end=$(date +%s.%N)
  python3 -c 'import json, sys; print(json.dumps({"process": float(sys.argv[3]) - float(sys.argv[2]), **json.load(open(sys.argv[1]))}))' \
    "$work/run/summary.json" "$start" "$end"
}
flow_benchmarks() {  # about 4 minutes on two cores
  local size=${KARST_BENCH_CELLS:-128} rock n axis
  stokes 64 1 1
  stokes "$size" 1 1
  stokes "$size" 1 2
  stokes "$size" 2 1
  stokes $((2 * size)) 1 2
  for rock in ketton,128,z berea,110,x; do
    IFS=, read -r rock n axis <<<"$rock"
    [[ -f $rocks/${rock}_$n.raw.gz ]] || { echo "left out: no ${rock}_$n.raw.gz in $rocks" >&2; continue; }
    gzip -dc "$rocks/${rock}_$n.raw.gz" >"$work/$rock.raw"
    record "permeability $rock 1 1" permeability "$rock" "$n" "$axis" 1 1
    record "permeability $rock 1 2" permeability "$rock" "$n" "$axis" 1 2
    record "permeability $rock 2 1" permeability "$rock" "$n" "$axis" 2 1
  done
}

record machine machine
record triad "$build/bench/bench_triad"
case $selection in
  geometry) geometry_benchmarks ;;
  solvers) solver_benchmarks ;;
  flow) flow_benchmarks ;;
esac
mv "$results.new" "$results"
echo "wrote $results" >&2
[[ -n ${2:-} ]] || python3 bench/tables.py "$results" >&2

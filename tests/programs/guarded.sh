#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# guarded.sh PROGRAM MPIEXEC RANKS: every way to fail ends with one clear message and the right status, and none hangs.
# With one rank the program runs without mpiexec. Several runs go on at a time: they mostly wait.
set -u
program=$1 mpiexec=$2 ranks=$3
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
launch=("$mpiexec" -n "$ranks" --oversubscribe --bind-to none "$program")
if [ "$ranks" -eq 1 ]; then launch=("$program"); fi

# check HOW STATUS COUNT PATTERN: the run ends with STATUS and stderr has PATTERN in exactly COUNT lines.
check() {
  local how=$1 status=$2 count=$3 pattern=$4 errors=$results/$1.errors got begin found
  begin=$(date +%s%N)
  # Open MPI: two that start at once race for one folder of sessions.
  mkdir -p "$results/$how"
  OMPI_MCA_orte_tmpdir_base=$results/$how timeout 300 "${launch[@]}" "$how" > /dev/null 2> "$errors"
  got=$?
  found=$(grep -c -E "$pattern" "$errors")
  if [ "$got" -ne "$status" ] || [ "$found" -ne "$count" ]; then
    echo "$how on $ranks ranks: status $got (wanted $status), '$pattern' $found times (wanted $count):"
    cat "$errors"
    touch "$results/failed"
  else
    echo "$how on $ranks ranks: as wanted after $((($(date +%s%N) - begin) / 1000000)) ms"
  fi
}

check fine 0 0 "error|rank" &
check status-0 0 0 "error:" &
check status-3 3 0 "error:" &
check all 1 1 "error: deck.toml:3: grid.box: 12 given$" &
wait
check two-lines 1 1 "^deck.toml:4: second$" &
check memory 1 1 "^error: out of memory" &
check standard 1 1 "^error: unexpected failure: vector::at" &
check unknown 1 1 "^error: unexpected failure of unknown kind" &
wait
if [ "$ranks" -eq 1 ]; then
  check one 1 1 "^error: slab is truncated$"
  # Started by an mpirun of another MPI library, every rank is alone.
  PMI_SIZE=3 check fine 1 1 "^error: 3 ranks were started, but each finds itself alone: "
else
  last=$((ranks - 1))
  check one 1 1 "^rank $last: error: slab is truncated$" &
  check one-others-late 1 1 "^rank $last: error: slab is truncated$" &
  check one-others-wait 1 1 "^rank $last: error: slab is truncated$" &
  check different 1 "$ranks" "^rank [0-9]: error: file of rank [0-9] is missing$" &
  wait
fi
[ ! -e "$results/failed" ]

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unit tests under the sanitizers: addresses and undefined behaviour (g++), then data races (clang, its OpenMP and the
# archer tool, which explains OpenMP's synchronisation to the thread sanitizer).
#   tools/sanitize.sh [address | thread] [further arguments of ctest, such as -R grid]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/install_dependencies.sh sanitizers
kinds="address thread"
case "${1:-}" in
  address | thread) kinds=$1 && shift ;;
esac

unit_tests() {  # PRESET [ctest arguments]
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" --target tests
  ctest --test-dir "build/$preset" -L unit --output-on-failure -j "$(nproc)" "$@"
}

for kind in $kinds; do
  if [[ $kind == address ]]; then
    export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_init_order=1
    export LSAN_OPTIONS=suppressions=$PWD/tools/lsan_suppressions.txt:print_suppressions=0
    export UBSAN_OPTIONS=print_stacktrace=1
    unit_tests sanitize "$@"
  else
    archer=$(clang --print-file-name=libarcher.so)
    [[ $archer == /* ]] || archer=$(find /usr/lib/llvm-*/lib -name libarcher.so | sort -V | tail -n 1)
    [[ -n $archer ]] || { echo "libarcher.so is missing; install libomp-dev" >&2; exit 1; }
    export OMP_TOOL_LIBRARIES=$archer
    export TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=$PWD/tools/tsan_suppressions.txt:print_suppressions=0:halt_on_error=0:exitcode=66
    unit_tests tsan "$@"
  fi
done
echo "sanitizers: clean ($kinds)"

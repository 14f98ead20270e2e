#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Formats all C++ files; with --check it changes nothing, lists the files that differ and ends with status 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -d '' files < <(find src geometry_import image_generator bench tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z)
case "${1:-}" in
  "") clang-format -i "${files[@]}" ;;
  --check)
    check='bad=0
      for file; do
        clang-format "$file" | cmp -s - "$file" || { echo "$file: not formatted; run tools/format.sh"; bad=1; }
      done
      exit $bad'
    printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 40 bash -c "$check" bash || exit 1
    ;;
  *) echo "usage: tools/format.sh [--check]" >&2 && exit 2 ;;
esac

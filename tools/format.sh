#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Formats all C++ files; with --check changes nothing, names the files that differ and ends with status 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -d '' files < <(find src geometry_import image_generator bench tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z)
case "${1:-}" in
  "") clang-format -i "${files[@]}" ;;
  --check)
    bad=0
    for file in "${files[@]}"; do
      clang-format "$file" | cmp -s - "$file" || { echo "$file: not formatted; run tools/format.sh"; bad=1; }
    done
    exit $bad
    ;;
  *) echo "usage: tools/format.sh [--check]" >&2 && exit 2 ;;
esac

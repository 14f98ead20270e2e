#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Formats all C++ files; with --check it changes nothing, lists the files that differ and ends with status 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -d '' files < <(find src geometry_import image_generator bench tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z)
case "${1:-}" in
  "") clang-format -i "${files[@]}" ;;
  --check)  # many files a process: to start one takes ten times as long as to look at a file
    status=0
    said=$(printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 100 clang-format --dry-run -Werror --ferror-limit=1 2>&1) || status=1
    sed 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1: not formatted; run tools\/format.sh/; t; d' <<<"$said"
    ((status == 0)) || { grep -q clang-formatted <<<"$said" || echo "$said" >&2; exit 1; }
    ;;
  *) echo "usage: tools/format.sh [--check]" >&2 && exit 2 ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over the C++ files changed since a commit (default HEAD), or over all of them.
#   tools/tidy.sh [--all | COMMIT]
# Needs a configured build/release (cmake --preset release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${KARST_BUILD:-build/release}
[[ -f $build/compile_commands.json ]] || { echo "$build/compile_commands.json is missing; run: cmake --preset release" >&2; exit 1; }

if [[ ${1:-} == --all ]]; then
  files=$(find src geometry_import image_generator bench tests -name '*.cpp' | sort)
else
  files=$({ git diff --name-only --diff-filter=d "${1:-HEAD}" -- '*.cpp'; git ls-files --others --exclude-standard -- '*.cpp'; } | sort -u)
fi
files=$(grep -v '^tests/checks/' <<<"$files" || true)
[[ -n $files ]] || { echo "no C++ file changed"; exit 0; }
# clang does not read the compiled headers of g++, nor needs them.
database=$(mktemp -d)
trap 'rm -rf "$database"' EXIT
sed -E 's# -Winvalid-pch -include [^ ]*/cmake_pch\.hxx##' "$build/compile_commands.json" >"$database/compile_commands.json"
xargs -d '\n' -n 1 -P "$(nproc)" clang-tidy --quiet -p "$database" --extra-arg=-Wno-error --extra-arg=-Wno-unknown-warning-option <<<"$files" \
  2> >(grep -vE '^[0-9]+ warnings? (and [0-9]+ errors? )?generated|^Suppressed|^Use -header' >&2)

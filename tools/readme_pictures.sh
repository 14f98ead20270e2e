#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the quickstart and copies its pictures to the paths that README.md shows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/quickstart.sh
for picture in streamlines.svg wall.png flow.png; do
  cp "out/quickstart/$picture" "docs/images/quickstart_$picture"
done

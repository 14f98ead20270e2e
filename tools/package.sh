#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds a Debian package for any machine of this architecture: tools/package.sh [FOLDER]   (default: out/package)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-out/package}
tools/install_dependencies.sh build
tools/build_package.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cpack --config build/package/CPackConfig.cmake -B "$folder" >/dev/null
rm -rf "$folder/_CPack_Packages"
ls "$folder"/karst_*.deb

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the dependencies that are missing on this machine: Debian 12 packages, and Python packages into .venv.
#   tools/install_dependencies.sh [build | packages | checks | sanitizers | python]
# build: what builds the program; packages: and what draws; checks: and what tools/test.sh needs; sanitizers: and what tools/sanitize.sh needs;
# python: .venv alone. Without a word: packages and .venv.
# Fast if nothing is missing; can be interrupted and run again at any time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
what=${1:-both}
[[ $what =~ ^(build|packages|checks|sanitizers|python|both)$ ]] || { echo "usage: tools/install_dependencies.sh [build | packages | checks | sanitizers | python]" >&2; exit 2; }

packages=(
  # to build
  g++ cmake ninja-build pkg-config git ccache
  libopenmpi-dev openmpi-bin libpetsc-real-dev libhdf5-openmpi-dev libtiff-dev libpng-dev zlib1g-dev
  libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libgtest-dev python3
)
[[ $what == build ]] || packages+=(python3-venv libegl1 libgl1-mesa-dri)  # to draw without a screen
[[ $what =~ ^(checks|sanitizers)$ ]] && packages+=(clang-format clang-tidy)
[[ $what == sanitizers ]] && packages+=(clang libclang-rt-dev libomp-dev)

missing=()
if [[ $what == python ]]; then
  :  # nothing is asked of dpkg
elif command -v dpkg-query >/dev/null; then
  installed=$({ dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true; } | awk '$2 == "installed" {print $1}')
  for package in "${packages[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
  done
elif [[ "${KARST_SKIP_PACKAGES:-}" != 1 ]]; then
  cat >&2 <<MESSAGE
This system has no dpkg, so the packages cannot be checked or installed from here. Install what corresponds to these
Debian 12 packages, then run the command again with KARST_SKIP_PACKAGES=1:
  ${packages[*]}
MESSAGE
  exit 1
fi

if ((${#missing[@]})); then
  if ((EUID == 0)); then
    as_root=()
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    as_root=(none)
  fi
  if ! command -v apt-get >/dev/null || [[ "${as_root[*]}" == none ]]; then
    echo "Missing packages, and no right to install them here. Ask an administrator to run:" >&2
    echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "Installing ${#missing[@]} packages: ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
  # An earlier run may have been stopped half-way; let dpkg finish first.
  if ! { "${as_root[@]}" dpkg --configure -a && "${install[@]}" update &&
    "${install[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "Installing the packages failed (last lines above). By hand: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

# The virtual environment counts as complete when its stamp holds the hash of the requirements; the stamp comes last.
# Bytecode is left to the first import: few of the modules are ever used.
[[ $what == python || $what == both ]] || exit 0
stamp=.venv/karst_requirements
wanted=$(sha256sum tools/requirements.txt | cut -d' ' -f1)
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
  echo "Installing the Python packages of the drawing tools into .venv"
  python=$(command -v /usr/bin/python3 || command -v python3)
  rm -f "$stamp"
  rm -rf .venv
  if ! { "$python" -m venv .venv && .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r tools/requirements.txt; } </dev/null; then
    echo "Making .venv with $python failed (messages above): it needs Python >= 3.11 with venv, and access to PyPI." >&2
    exit 1
  fi
  echo "$wanted" >"$stamp.new"
  mv "$stamp.new" "$stamp"
fi
# The package of the project (python/karst) as it stands here, as an editable installation would have it.
for packages in .venv/lib/python3*/site-packages; do
  grep -sqxF -- "$PWD/python" "$packages/karst.pth" || echo "$PWD/python" >"$packages/karst.pth"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the documentation site out/site/index.html from the Markdown pages and notebooks of the project: tools/site.sh Sphinx with MyST, which
# reads Markdown as GitHub does (lists without an empty line before them, two spaces of indent), so that the pages need no changes. The notebooks
# are run with the program in KARST_BUILD or build/release. This script installs its packages from PyPI into out/site-venv; the site itself needs
# no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=out/site-venv
stamp=$venv/requirements
if ! cmp -s tools/requirements_site.txt "$stamp"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r tools/requirements_site.txt </dev/null
  cp tools/requirements_site.txt "$stamp"
fi
tools/install_dependencies.sh python
.venv/bin/python tools/notebook_pages.py out/site-notebooks
python3 tools/site_pages.py out/site-source out/site-notebooks
cp -r docs/site/conf.py docs/site/static out/site-source/
rm -rf out/site
"$venv/bin/python" -m sphinx -q -W --keep-going -b html out/site-source out/site
rm -rf out/site/.doctrees out/site/.buildinfo
echo "out/site/index.html"

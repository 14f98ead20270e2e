#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/inputs.md is what `karst help --markdown` prints, and help knows every key it lists.

    docs.py --program KARST --mpiexec MPIEXEC
"""
import argparse
import difflib
import re
import sys
from pathlib import Path

from support import Karst

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", required=True)
    options = parser.parse_args()
    karst = Karst(options.program, options.mpiexec)
    page = ROOT / "docs" / "inputs.md"
    made = karst.run(["help", "--markdown"], ROOT)
    written = page.read_text() if page.exists() else ""
    if made.status != 0 or made.out != written:
        sys.stdout.writelines(difflib.unified_diff(written.splitlines(True), made.out.splitlines(True), "docs/inputs.md",
                                                   "karst help --markdown"))
        print("docs/inputs.md is out of date: build the target docs (cmake --build --preset release --target docs)")
        return 1
    overview = karst.run(["help"], ROOT).out
    keys = re.findall(r"^  ([\w.\[\]]+)  ", overview, re.M)
    failed = [k for k in keys if karst.run(["help", k], ROOT).status != 0]
    print(f"{len(keys)} keys explained", f"but not {failed}" if failed else "")
    return 1 if failed or not keys else 0


if __name__ == "__main__":
    sys.exit(main())

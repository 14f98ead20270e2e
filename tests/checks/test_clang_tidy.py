#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Canary of .clang-tidy: it complains about bad_style.cpp at every marked line, and nowhere else."""
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "bad_style.cpp"


def main():
    expected = {(n, m[1]) for n, line in enumerate(SOURCE.read_text().splitlines(), 1)
                if (m := re.search(r"// expect ([\w-]+)$", line))}
    done = subprocess.run(["clang-tidy", "--quiet", str(SOURCE), "--", "-std=c++20"],
                          cwd=HERE.parents[1], capture_output=True, text=True)
    found = {(int(n), check) for n, check in
             re.findall(r"bad_style\.cpp:(\d+):\d+: (?:error|warning): .*\[([\w-]+)", done.stdout)}
    for n, check in sorted(expected - found):
        print(f"{SOURCE.name}:{n}: clang-tidy says nothing of {check}")
    for n, check in sorted(found - expected):
        print(f"{SOURCE.name}:{n}: clang-tidy complains of {check}, not expected here")
    if done.returncode == 0:
        print("clang-tidy ended with status 0: its complaints would not stop anybody")
    if expected != found or done.returncode == 0:
        print(done.stdout, done.stderr)
        return 1
    print(f"{len(found)} complaints, each where expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())

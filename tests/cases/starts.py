#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that start at the same time do not disturb each other, and output paths of any length work.

starts.py --program KARST --mpiexec MPIEXEC
"""
import concurrent.futures
import re
import sys

from support import Checks, parser, program_and_folder, sphere_deck

STARTS = 48  # with a shared folder of the session one start in fifty failed
AT_ONCE = 4
LONG = "/".join(["d" * 100] * 3)  # Open MPI's file pointers shared by ranks end at 214 characters


def is_version(text):
    """One line per process and nothing else."""
    lines = text.splitlines()
    return bool(lines) and all(line.startswith("karst ") for line in lines)


def starts(karst, folder, number_of_starts):
    """Single processes and mpirun mixed; returns what went wrong."""
    def start(number):
        return number, karst.run(["--version"], folder, ranks=2 if number % 8 == 0 else 1)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(start, range(number_of_starts)))
    return [f"start {number}: {r}" for number, r in results if r.status != 0 or r.err.strip() or not is_version(r.out)]


def long_path(karst, folder, ranks):
    (folder / "deck.toml").write_text(sphere_deck(16))
    out = f"{LONG}/{ranks}"
    result = karst.run(["geometry", "deck.toml", "--out", out], folder, ranks)
    complete = (folder / out / "summary.json").exists() and (folder / out / "geometry.vtkhdf").exists()
    return [] if result.status == 0 and complete else [f"path of {len(str(folder / out))} characters: {result}"]


def unloaded_early(karst, folder):
    """MPI_Finalize leaves the plugins of Open MPI loaded that were there after the start: threads of its own may still call them."""
    log = folder / "loader"
    karst.run(["--version"], folder, variables={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)})
    text = next(folder.glob("loader.*")).read_text().split("transferring control")[-1]
    before, _, end = text.partition("calling fini:  [0]")  # that of the program comes first when the process ends
    loaded = set(re.findall(r"calling init: (\S+/mca_\w+\.so)", before))
    gone = set(re.findall(r"file=(\S+/mca_\w+\.so) \[0\];\s+destroying", before))
    if not loaded:  # an MPI library without plugins
        return []
    if not end:
        return ["the log of the loader does not show the end of the program"]
    return [] if any("/mca_pml_" in name for name in loaded - gone) else [f"all of {len(loaded)} plugins were unloaded before the program ended"]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--starts", type=int, default=STARTS)
    options = arguments.parse_args()
    told = Checks()
    with program_and_folder(options) as (karst, folder):
        for name, problems in ((f"{options.starts} starts, {AT_ONCE} at a time", starts(karst, folder, options.starts)),
                               ("plugins stay to the end", unloaded_early(karst, folder)),
                               ("long path, 1 rank", long_path(karst, folder, 1)),
                               ("long path, 2 ranks", long_path(karst, folder, 2))):
            told.problems(name, problems)
    return told.status


if __name__ == "__main__":
    sys.exit(main())

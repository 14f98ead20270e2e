#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real rocks: porosity within 1 % of what the voxels hold, identical counts on 1 and 4 ranks.

    rocks.py --program KARST --mpiexec MPIEXEC

The images are not part of the project. They are looked for in the folder named by KARST_TEST_DATA, else in
../shared/data beside the project; without them the test is skipped (exit status 77).
"""
import argparse
import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

from same_answer import differences
from support import Karst

# file, voxels per side, voxel width [m], porosity of the voxels (0 is pore)
ROCKS = [("ketton_128.raw.gz", 128, 5.3e-6, 0.1832), ("berea_110.raw.gz", 110, 1.0, 0.1779)]
SKIPPED = 77


def run(karst, folder, arguments, ranks):
    result = karst.run(arguments, folder, ranks)
    if result.status != 0:
        sys.exit(f"{arguments} on {ranks} ranks failed: {result}")


def measure(karst, folder, rock):
    """Imports a rock (to rock.h5 in the folder) and cuts it on 1 and on 4 ranks; returns both summaries."""
    name, n, voxel, _ = rock
    (folder / "rock.raw").write_bytes(gzip.decompress((data_folder() / name).read_bytes()))
    (folder / "deck.toml").write_text('[geometry]\nimage = "rock.h5"\n')
    run(karst, folder, ["import", "rock.raw", "-o", "rock.h5", "--overwrite", "--size", f"{n},{n},{n}", "--type",
                        "uint8", "--voxel", voxel, "--pore", 0], 1)
    summaries = []
    for ranks in (1, 4):
        run(karst, folder, ["geometry", "deck.toml", "--out", "out", "--overwrite", "-j", 1], ranks)
        summaries.append(json.loads((folder / "out" / "summary.json").read_text()))
    return summaries


def check(karst, folder, rock):
    """Prints what was found; returns the problems."""
    name, porosity = rock[0], rock[3]
    summaries = measure(karst, folder, rock)
    found = list(differences(*summaries))
    computed = summaries[0]["porosity"]
    if abs(computed / porosity - 1) > 0.01:
        found.append(f"porosity {computed:.5f}, the voxels hold {porosity}")
    print("FAILED" if found else "passed", name, f"porosity {computed:.5f} (voxels {porosity})", summaries[0]["cells"],
          "; ".join(found), flush=True)
    return found


def data_folder():
    given = os.environ.get("KARST_TEST_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / ".." / "shared" / "data"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", required=True)
    options = parser.parse_args()
    missing = [rock[0] for rock in ROCKS if not (data_folder() / rock[0]).exists()]
    if missing:
        print(f"skipped: no {', '.join(missing)} in {data_folder()}; set KARST_TEST_DATA to the folder that has them")
        return SKIPPED
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        problems = [p for rock in ROCKS for p in check(karst, Path(place), rock)]
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

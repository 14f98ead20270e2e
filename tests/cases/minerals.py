#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wall area by mineral of a label image of polyhedral grains of quartz and calcite, against the exact value of the generator: within 3 %.

    minerals.py --program KARST --mpiexec MPIEXEC --generator KARST_MAKE_IMAGE [--table]

On 1 and 4 ranks, on one and two levels, of the image and of mirrored ones; and with names that the image does not have. --table
prints the figures of docs/decisions/026.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

WITHIN, SAME = 0.03, 1e-9
SIZE, RADIUS = 64, 15
LEVELS = {1: [], 2: ["grid.levels=2", 'grid.refine=[{level=1, where="wall"}]']}


def rock(generator, folder, size=SIZE, radius=RADIUS, seed=1):
    """Labels, and the truth: area of each mineral [voxel²]."""
    subprocess.run([generator, "-o", "gray.tif", "--labels", "labels.tif", "--truth", "truth.json", "--kind", "polyhedra", "--size", str(size),
                    "--radius", str(radius), "--porosity", "0.5", "--seed", str(seed), "--minerals", "quartz:0.7:180,calcite:0.3:215"],
                   cwd=folder, check=True, capture_output=True)
    labels = json.loads((folder / "truth.json").read_text())["labels"]
    return {mineral["name"]: mineral["wall_area"]["value"] for mineral in labels[1:]}


def imported(karst, folder, name, *options):
    done = karst.run(["import", "labels.tif", "-o", f"{name}.h5", "--labels", "labels.tif.json", "--voxel", "1m", "--page", "none",
                      "--overwrite", *options], folder, threads=2)
    if done.status != 0:
        sys.exit(str(done))


def areas(karst, folder, name, levels=1, ranks=1, words=()):
    """Area of each mineral [voxel²]."""
    done = karst.run(["geometry", f"{name}.h5", "--out", "geometry", "--overwrite", "geometry.keep=all", "output.plot=[]", *LEVELS[levels], *words],
                     folder, ranks=ranks, threads=2 if ranks == 1 else 1)
    if done.status != 0:
        sys.exit(str(done))
    summary = json.loads((folder / "geometry" / "summary.json").read_text())
    found = {mineral["name"]: mineral["wall_area_m2"] for mineral in summary["minerals"]}
    if abs(sum(found.values()) / summary["wall_area_m2"] - 1) > 1e-12:
        sys.exit(f"the minerals have {found} m² of {summary['wall_area_m2']} m²")
    return found


def table(karst, generator, folder):
    print("| grains | voxels per radius | levels | quartz [%] | calcite [%] |\n|---|---|---|---|---|")
    for size, radius in ((48, 8), (64, 12), (64, 15), (96, 24)):
        truth = rock(generator, folder, size, radius)
        imported(karst, folder, "rock")
        for levels in LEVELS:
            found = areas(karst, folder, "rock", levels)
            print(f"| polyhedra, {size}³ | {radius} | {levels} | " +
                  " | ".join(f"{100 * (found[m] / truth[m] - 1):+.2f}" for m in ("quartz", "calcite")) + " |", flush=True)


def main():
    options = parser(__doc__, generator=True).parse_args()
    karst = Karst(options.program, options.mpiexec)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(place)
        if options.table:
            table(karst, options.generator, folder)
            return 0
        truth = rock(options.generator, folder)
        imported(karst, folder, "rock")
        imported(karst, folder, "mirrored", "--flip", "true,false,true")
        first = {}

        def compare(what, found, expected, within):
            for mineral, area in expected.items():
                change = found[mineral] / area - 1
                print(what, mineral, f"{change:+.2e}", flush=True)
                if not abs(change) <= within:
                    wrong.append(f"{what}: {mineral} has {found[mineral]:.6g} voxel², not {area:.6g}: {change:+.2e}")

        for levels in LEVELS:
            first[levels] = areas(karst, folder, "rock", levels)
            compare(f"{levels} levels", first[levels], truth, WITHIN)
            compare(f"{levels} levels, 4 ranks", areas(karst, folder, "rock", levels, 4), first[levels], SAME)
        compare("mirrored", areas(karst, folder, "mirrored"), first[1], SAME)
        one = areas(karst, folder, "rock", words=['geometry.minerals=["calcite"]'])
        compare("calcite alone", one, {"calcite": first[1]["calcite"], "other": first[1]["quartz"]}, SAME)
        refused = karst.run(["geometry", "rock.h5", "--out", "refused", 'geometry.minerals=["dolomite", "calcit"]'], folder, ranks=2)
        if refused.status == 0 or "\"dolomite\"" not in refused.err or "did you mean \"calcite\"" not in refused.err:
            wrong.append(f"unknown minerals: {refused}")
    if wrong:
        sys.exit("\n".join(wrong))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Labels whose voxels are wider along one axis -> `karst run`: a slit n voxels wide across that axis has the permeability
H² / 12 times the porosity, H = n voxels, and the porosity of the file, for any ratio of the widths. Cubes with the most
frequent label of the voxels that they contain are up to one cube too wide or too narrow: 0.70 times the permeability for
3 voxels of 15 µm on cubes of 10 µm, 1.41 times for 12 µm. A packing whose voxels are 1.5 times as wide along one axis
has the permeability of the one with cubic voxels. Minerals on the walls keep their names.

    unequal_voxels.py --program KARST --mpiexec MPIEXEC
"""
import json
import math
import random
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

WIDTH = 10e-6  # of the cubes [m]
# Axis across the slit, its width over the others', voxels of the slit, of the image across.
SLITS = [(2, 1.5, 3, 24), (2, 1.2, 3, 24), (0, 1.5, 5, 16), (1, 1.35, 3, 20), (2, 1.9, 2, 16), (2, 1.5, 1, 12), (2, 2.0, 3, 12)]
WITHIN = {1: 0.08}  # of the permeability, by voxels; one voxel between two cubes cannot be had exactly
USUALLY = 2e-3
PACKING_WITHIN = 0.025  # a wall sought among cubes: 0.09


def run(karst, folder, name, size, spacing, axis, label, *more):
    """Permeability along an axis; None: along all of them."""
    (folder / f"{name}.raw").write_bytes(bytes(label(x, y, z) for z in range(size[2]) for y in range(size[1])
                                               for x in range(size[0])))
    result = karst.run(["run", f"{name}.raw", "--size", "x".join(map(str, size)), "--type", "uint8", "--spacing",
                        ",".join(f"{s:.6g}" for s in spacing), "--out", name, *(more or ("--pore", "0")),
                        *(f"flow.axes={'xyz'[a]}" for a in ([] if axis is None else [axis])), "flow.estimate_error=false",
                        "output.plot=[]"], folder)
    if result.status != 0:
        sys.exit(f"{name} failed: {result}")
    return json.loads((folder / name / "summary.json").read_text())


def slits(karst, folder):
    for across, ratio, n, of in SLITS:
        size, spacing = [4, 4, 4], [WIDTH] * 3
        size[across], spacing[across] = of, ratio * WIDTH
        along, first = (across + 1) % 3, of // 2 - 1
        name = f"slit_{'xyz'[across]}_{ratio}_{n}"
        summary = run(karst, folder, name, size, spacing, along, lambda *at: 0 if first <= at[across] < first + n else 1)
        error = summary["permeability_m2"][along][along] / ((n * ratio * WIDTH) ** 2 / 12 * n / of) - 1
        void = summary["porosity"] / (n / of) - 1
        text = f"slit of {n} voxels {ratio} times as wide across {'xyz'[across]}: error of the permeability " \
               f"{100 * error:+.3f} %, of the porosity {100 * void:+.3f} %"
        print(text)
        if not (abs(error) <= WITHIN.get(n, USUALLY) and abs(void) <= max(WITHIN.get(n, 0) / 3, 1e-3)):
            yield text


def packing(karst, folder):
    """Overlapping grains of 7 to 11 voxels: 0.25 of pores, with narrow throats."""
    n, dice = 48, random.Random(1)
    grains = [([dice.uniform(0, n) for _ in range(3)], dice.uniform(7, 11)) for _ in range(60)]

    def permeability(axis, ratio):
        width, size = [1.0] * 3, [n] * 3
        width[axis], size[axis] = ratio, round(n / ratio)
        solid = set()
        for center, radius in grains:
            spans = [range(max(0, int((c - radius) / w - 0.5)), min(k, int((c + radius) / w + 1.5))) for c, w, k in zip(center, width, size)]
            for z in spans[2]:
                for y in spans[1]:
                    left = radius**2 - ((z + 0.5) * width[2] - center[2])**2 - ((y + 0.5) * width[1] - center[1])**2
                    solid.update((x, y, z) for x in spans[0] if ((x + 0.5) * width[0] - center[0])**2 < left)
        summary = run(karst, folder, f"packing_{axis}_{ratio}", size, [WIDTH * w for w in width], None,
                      lambda *at: 1 if at in solid else 0)
        return [summary["permeability_m2"][d][d] for d in range(3)]

    cubes = permeability(2, 1.0)
    for axis in (0, 2):
        errors = [k / c - 1 for k, c in zip(permeability(axis, 1.5), cubes)]
        text = f"packing, voxels 1.5 times as wide along {'xyz'[axis]}: errors of the permeabilities " + ", ".join(f"{100 * e:+.2f} %" for e in errors)
        print(text)
        if max(map(abs, errors)) > PACKING_WITHIN:
            yield text


def minerals(karst, folder):
    """A slit between quartz below and calcite above: half of the wall each."""
    names = folder / "names.json"
    names.write_text(json.dumps({"labels": {"pore": 0, "quartz": 1, "calcite": 2}}))
    summary = run(karst, folder, "minerals", [4, 4, 12], [WIDTH, WIDTH, 1.5 * WIDTH], 0,
                  lambda x, y, z: 1 if z < 5 else 0 if z < 8 else 2, "--labels", "names.json")
    areas = {m["name"]: m["wall_area_m2"] for m in summary["minerals"]}
    print(f"walls of a slit: {areas}")
    if not math.isclose(areas["quartz"], areas["calcite"], rel_tol=1e-6):
        yield f"walls of a slit between two minerals: {areas}"


def main():
    options = parser(__doc__).parse_args()
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory() as name:
        wrong = [*slits(karst, Path(name)), *packing(karst, Path(name)), *minerals(karst, Path(name))]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A mirrored or rotated image has the mirrored or rotated permeability to 1e-6: raw image -> `karst run`, for a segmented image
of noise, a smooth segmented one, a gray one, and one of isolated voxels.

    mirror.py --program KARST --mpiexec MPIEXEC [--full]

Each image in two of the six symmetries, which together try all; with --full in all of them.
"""
import json
import math
import random
import sys
import tempfile
from pathlib import Path

from support import Karst, image_deck, parser

SIZE = (16, 18, 17)
WITHIN = 1e-6
# axis d of the new image is axis axes[d] of the old one, from its other end where flip[d]
SYMMETRIES = {"-x": ((0, 1, 2), (1, 0, 0)), "-y": ((0, 1, 2), (0, 1, 0)), "-z": ((0, 1, 2), (0, 0, 1)),
              "yzx": ((1, 2, 0), (0, 0, 0)), "-yx-z": ((1, 0, 2), (1, 0, 1)), "-z-y-x": ((2, 1, 0), (1, 1, 1))}
KEYS = ("porosity", "connected_porosity", "specific_surface_per_m")


def places(size):
    return [(x, y, z) for z in range(size[2]) for y in range(size[1]) for x in range(size[0])]


def changed(values, size, axes, flip):
    """The image after a symmetry, and its size."""
    new = tuple(size[a] for a in axes)
    out = []
    for to in places(new):
        at = [0, 0, 0]
        for d in range(3):
            at[axes[d]] = new[d] - 1 - to[d] if flip[d] else to[d]
        out.append(values[(at[2] * size[1] + at[1]) * size[0] + at[0]])
    return out, new


def blurred(values, size):
    """Weights 1 2 1 along each axis."""
    for d, step in enumerate((1, size[0], size[0] * size[1])):
        values = [(values[n - step * (at[d] > 0)] + 2 * v + values[n + step * (at[d] + 1 < size[d])]) / 4
                  for n, (v, at) in enumerate(zip(values, places(size)))]
    return values


def images():
    """Name, values of one byte, lines of the deck."""
    rng = random.Random(5)
    smooth = [math.sin(.55 * x + .2) * math.cos(.5 * y) + math.sin(.5 * y + .1) * math.cos(.6 * z + .3)
              + math.sin(.6 * z) * math.cos(.55 * x) for x, y, z in places(SIZE)]
    noise = blurred([rng.gauss(0, 1) for _ in smooth], SIZE)
    yield "noise", [0 if v > -.05 else 1 for v in noise], "pore = 0"
    yield "smooth", [0 if v > -.3 else 1 for v in smooth], "pore = 0"
    gray = blurred([60. if v > -.3 else 180. for v in smooth], SIZE)
    yield "gray", [round(g + rng.gauss(0, 4)) for g in gray], ""
    yield "white", [0 if rng.random() < .6 else 1 for _ in smooth], "pore = 0"


def solve(karst, folder, name, values, size, lines):
    (folder / f"{name}.raw").write_bytes(bytes(values))
    (folder / f"{name}.toml").write_text(image_deck(f"{name}.raw", size, 2e-6) + f"""{lines}
[flow]
model = "stokes"
drive = "pressure-drop"
tolerance = 1e-10
[output]
plot = []
""")
    result = karst.run(["run", f"{name}.toml", "--out", name], folder)
    if result.status != 0:
        sys.exit(f"{name} failed: {result}")
    return json.loads((folder / name / "summary.json").read_text())


def differences(first, turned, axes):
    """Name and relative difference of what should be equal."""
    for key in KEYS:
        yield key, turned[key] / first[key] - 1
    for d in range(3):
        k = first["permeability_m2"][axes[d]][axes[d]]
        yield f"k_{'xyz'[axes[d]]}", turned["permeability_m2"][d][d] / k - 1


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, values, lines) in enumerate(images()):
            first = solve(karst, Path(folder), name, values, SIZE, lines)
            for symmetry in SYMMETRIES if options.full else list(SYMMETRIES)[number % 3::3]:
                axes, flip = SYMMETRIES[symmetry]
                turned = solve(karst, Path(folder), name + symmetry, *changed(values, SIZE, axes, flip), lines)
                found = list(differences(first, turned, axes))
                print(name, symmetry, ", ".join(f"{key} {change:+.1e}" for key, change in found), flush=True)
                wrong += [f"{name} {symmetry}: {key} differs by {change:.1e}" for key, change in found
                          if not abs(change) <= WITHIN]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The error estimate of the permeability against the change on cells half as wide, on segmented images with default settings;
the extrapolated value against that on those cells.

    error_estimate.py --program KARST --mpiexec MPIEXEC --generator KARST_MAKE_IMAGE [--table]

Asserts for three images of 36^3 voxels: estimate / change is 1 to 4, and the extrapolated value is nearer to that of the fine
cells than the value itself. --table prints the ten images of 48^3 voxels of decision 016, along x, y and z.
"""
import json
import subprocess
import sys

from support import parser, program_and_folder, sphere_deck

FLOW = """[flow]
model = "stokes"
drive = "pressure-drop"
axes = {axes}
tolerance = 1e-7
[output]
plot = []
"""
SHORT = [("packing", "--radius 6 --porosity 0.40 --seed 1"), ("polyhedra", "--radius 8 --porosity 0.45 --seed 6"),
         ("fractures", "--fractures 2 --aperture 6 --roughness 1.5 --seed 9")]
TABLE = [("packing", "--radius 8 --porosity 0.40 --seed 1"), ("packing", "--radius 6 --porosity 0.36 --seed 2"),
         ("packing", "--radius 10 --porosity 0.35 --seed 3"), ("packing", "--radius 5 --porosity 0.42 --seed 4"),
         ("packing", "--radius 12 --porosity 0.33 --seed 5"), ("polyhedra", "--radius 8 --porosity 0.45 --seed 6"),
         ("polyhedra", "--radius 10 --porosity 0.40 --seed 7"), ("polyhedra", "--radius 6 --porosity 0.50 --seed 8"),
         ("fractures", "--fractures 3 --aperture 5 --roughness 1.5 --seed 9"),
         ("packing", "--radius 9 --porosity 0.38 --fractures 1 --aperture 5 --roughness 1 --seed 10")]


def solve(karst, folder, axes, *more):
    result = karst.run(["run", "rock.toml", "--out", "out", "--overwrite", f"flow.axes={json.dumps(axes)}", *more], folder, threads=2)
    if result.status != 0:
        sys.exit(f"{more} failed: {result}")
    summary = json.loads((folder / "out" / "summary.json").read_text())
    k = [summary["permeability_m2"]["xyz".index(a)]["xyz".index(a)] for a in axes]
    return k, summary["flow"], result.out


def figures(karst, generator, folder, image, size, axes):
    """Of each axis: change to cells half as wide, estimated error, change to the extrapolated value (None without one), relative."""
    kind, options = image
    subprocess.run([generator, "-o", "gray.raw", "--labels", "rock.raw", "--size", str(size), "--kind", kind, *options.split()],
                   cwd=folder, check=True, capture_output=True)
    (folder / "rock.toml").write_text(f"""[geometry]
image = "rock.raw"
[geometry.import]
size = [{size}, {size}, {size}]
type = "uint8"
voxel = 1e-6
pore = 0
{FLOW.format(axes=json.dumps(axes))}""")
    k, flow, _ = solve(karst, folder, axes)
    fine, bare, _ = solve(karst, folder, axes, f"grid.cells={[2 * size] * 3}", "flow.estimate_error=false")
    assert "permeability_error_m2" not in bare[0]
    return [(f / c - 1, one["permeability_error_m2"] / c,
             one["permeability_extrapolated_m2"] / c - 1 if one["permeability_extrapolated_m2"] is not None else None)
            for c, f, one in zip(k, fine, flow)]


def text_of(image, axis, change, estimate, limit):
    extrapolated = "none: the grids disagree" if limit is None else f"{100 * limit:+.2f}"
    return (f"| {image[0]} {image[1].replace('--', '')} | {axis} | {100 * change:+.2f} | {100 * estimate:.2f} | "
            f"{estimate / abs(change):.1f} | {extrapolated} |")


def table(karst, generator, folder):
    print("| image | axis | cells half as wide [%] | estimate [%] | estimate / change | extrapolated [%] |\n|---|---|---|---|---|---|")
    for image in TABLE:
        for axis, found in zip("xyz", figures(karst, generator, folder, image, 48, list("xyz"))):
            print(text_of(image, axis, *found), flush=True)


def check(karst, generator, folder):
    problems = []
    for image in SHORT:
        [(change, estimate, limit)] = figures(karst, generator, folder, image, 36, ["x"])
        good = 1.0 <= estimate / abs(change) <= 4.0 and limit is not None and abs(limit - change) <= 0.85 * abs(change)
        print("passed" if good else "FAILED", text_of(image, "x", change, estimate, limit), flush=True)
        problems += [] if good else [image]
    return problems


def check_without_wider_grid(karst, folder):
    """Asked for by default only, it is unknown where no wider grid fits, and the reason is told."""
    text = sphere_deck().replace("cells = [16, 16, 16]", "cells = [16, 16, 17]").replace("[1e-3, 1e-3, 1e-3]\nbox", "[1.6e-3, 1.6e-3, 1.7e-3]\nbox")
    (folder / "rock.toml").write_text(text + FLOW.format(axes='["x"]'))
    _, flow, out = solve(karst, folder, ["x"])
    good = (flow[0]["permeability_error_m2"] is None and "estimated error of the discretisation unknown" in out
            and "no error estimate" in out and "16 x 16 x 17" in out)
    print("passed" if good else "FAILED", "without a wider grid", flush=True)
    return [] if good else [out]


def check_plane_image(karst, folder):
    """An image of one plane has wider grids as others have: its one cell of depth is as wide as the others."""
    n, discs = 48, [(10, 12, 5.3), (25, 30, 6.1), (38, 10, 5), (36, 38, 6.6), (8, 36, 4.4)]
    (folder / "plane.raw").write_bytes(bytes(int(any((i + 0.5 - x) ** 2 + (j + 0.5 - y) ** 2 < r * r for x, y, r in discs))
                                             for j in range(n) for i in range(n)))
    (folder / "rock.toml").write_text(f"""[geometry]
image = "plane.raw"
[geometry.import]
size = [{n}, {n}, 1]
type = "uint8"
voxel = 1e-6
pore = 0
""" + FLOW.format(axes='["x"]'))
    [k], [flow], out = solve(karst, folder, ["x"])
    [fine], _, _ = solve(karst, folder, ["x"], f"grid.cells=[{2 * n}, {2 * n}, 1]", "flow.estimate_error=false")
    change, told = abs(fine / k - 1), flow["permeability_error_m2"] / k
    good = change <= told <= 0.03 and "does not include the uncertainty" in out
    print("passed" if good else "FAILED", f"plane image: told {100 * told:.2f} %, change {100 * change:.2f} %", flush=True)
    return [] if good else [out]


def main():
    options = parser(__doc__, generator=True).parse_args()
    with program_and_folder(options) as (karst, folder):
        if options.table:
            return table(karst, options.generator, folder)
        problems = check(karst, options.generator, folder) + check_without_wider_grid(karst, folder)
        problems += check_plane_image(karst, folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

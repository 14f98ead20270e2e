#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Images of a single phase, as crops of a larger image may be, give results and not errors: all pore has a porosity of 1, an
infinite permeability (null, and reported), the diffusivity of the fluid and the requested velocity; all solid has
porosity, permeability and diffusivity 0. On one rank and on several, as cases of a study, and from their geometry files;
transport through solid is still rejected.

    one_phase.py --program KARST --mpiexec MPIEXEC
"""
import json
import math
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

N = 16
CUBE = ["--size", f"{N}x{N}x{N}", "--type", "uint8", "--voxel", "1e-6", "--pore", "0"]
IMAGE = '[geometry]\nimage = "%s.raw"\n[geometry.import]\nsize = [%d, %d, %d]\ntype = "uint8"\nvoxel = 1e-6\npore = 0\n'
JOBS = ('[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["x", "y", "z"]\n'
        '[diffusion]\naxes = ["x", "y", "z"]\n')


def deck(folder, image, more, size=N, name=None):
    path = folder / f"{name or image}.toml"
    path.write_text(IMAGE % (image, size, size, size) + more)
    return path.name


def ran(karst, folder, arguments, **how):
    result = karst.run(arguments, folder, **how)
    if result.status != 0:
        sys.exit(f"{arguments} failed: {result}")
    return result


def expect(summary, porosity, infinite, diffusivity):
    name = "all pore" if porosity else "all solid"
    yield name, "porosity", summary["porosity"] == porosity
    for axis, flow in enumerate(summary["flow"]):
        k = summary["permeability_m2"][axis][axis]
        yield name, "permeability", (k is None and flow["unbounded"]) if infinite else k == 0.0
        u = summary["darcy_velocity_m_s"][axis][axis]
        yield name, "velocity", u == 1e-4 if infinite else u == 0.0
        d = summary["relative_diffusivity"][axis][axis]
        yield name, "diffusivity", math.isclose(d, diffusivity, rel_tol=1e-9)


def wrong_in(karst, folder):
    for image, value in (("pore", 0), ("solid", 1)):
        (folder / f"{image}.raw").write_bytes(bytes([value]) * N**3)
        for ranks in (1, 2):
            ran(karst, folder, ["run", deck(folder, image, JOBS), "--out", image, "--overwrite"], ranks=ranks)
            summary = json.loads((folder / image / "summary.json").read_text())
            yield from expect(summary, 1.0 - value, value == 0, 1.0 - value)
        ran(karst, folder, ["check", f"{image}.toml"])
        ran(karst, folder, ["import", f"{image}.raw", "-o", f"{image}.h5", *CUBE])
        ran(karst, folder, ["run", f"{image}.h5", "--out", f"{image}_h5", "flow.axes=x"])
        again = json.loads((folder / f"{image}_h5" / "summary.json").read_text())
        yield image, "geometry file", again["porosity"] == 1.0 - value

    # Eight cubes of an image: one is solid, one is pore, the others are halves.
    half = N // 2
    big = bytes(1 if z < N and y < N and x < N else 0 if z >= N and y >= N and x >= N else x % half < half // 2
                for z in range(2 * N) for y in range(2 * N) for x in range(2 * N))
    (folder / "eight.raw").write_bytes(big)
    name = deck(folder, "eight", '[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["y"]\n'
                "estimate_error = false\n", 2 * N)
    (folder / "study.toml").write_text(f'deck = "{name}"\ndirectory = "study"\n[subvolumes]\nsizes = [{N}]\nplaces = 8\n')
    ran(karst, folder, ["study", "study.toml"])
    lines = (folder / "study" / "study.csv").read_text().splitlines()
    for text in ("no path along y", "no wall along y"):
        yield "study", text, sum(text in line for line in lines) == 1
    yield "study", "cases", sum("completed" in line for line in lines) == 8

    carried = deck(folder, "solid", '[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\n'
                   '[[transport.component]]\nname = "c"\n[time]\nend_pore_volumes = 1\n', name="carried")
    result = karst.run(["run", carried, "--out", "carried"], folder)
    yield "transport", "refused", result.status == 1 and "no pore percolates" in result.err


def main():
    options = parser(__doc__).parse_args()
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory() as name:
        wrong = [f"{of}: {what}" for of, what, right in wrong_in(karst, Path(name)) if not right]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A vortex that a stream carries along, on a grid that follows its vorticity: as right as on fine cells everywhere, and nowhere does
the edge of the fine cells show.

    followed_vortex.py --program KARST --mpiexec MPIEXEC --package FOLDER

The vorticity w of a round vortex does not feel the stream nor itself and spreads as heat does. For w ~ (2 - r²/s²) e^(-r²/2s²) / s⁴,
which has no circulation, the speed around its centre is ~ r e^(-r²/2s²) / s⁴ with s² = s0² + 2 v t.
"""
import sys

import h5py
import numpy as np
from support import Checks, parser, program_and_folder

STREAM, VISCOSITY, S0, CENTRE = 1.0, 1e-3, 0.04, (0.3, 0.25)  # m/s, m²/s, m
FASTEST = 1.0  # around the centre, at r = s0 [m/s]
END, STEPS = 0.12, 48  # s
DECK = f"""
[grid]
size = [1.0, 0.5, 0.015625]
cells = [64, 32, 1]
periodic = [false, false, true]
box = 8
[fluid]
viscosity = {VISCOSITY}
density = 1.0
[flow]
model = "navier-stokes"
sides = "symmetry"
{{start}}
[[flow.inlet]]
side = "-x"
velocity = {STREAM}
[time]
end = {{end}}
dt = {{dt}}
[output]
plot = ["velocity"]
"""
FOLLOWED = """
[[grid.refine]]
level = 1
where = "vorticity"
above = 0.3
buffer = 2
"""


def velocity(x, y, t):
    s2 = S0**2 + 2.0 * VISCOSITY * t
    x, y = x - CENTRE[0] - STREAM * t, y - CENTRE[1]
    w = FASTEST * np.exp(0.5) / S0 * (S0**2 / s2) ** 2 * np.exp(-(x**2 + y**2) / (2.0 * s2))
    return STREAM - w * y, w * x


def write_vortex(path):
    """In place of the velocity of a plotfile of one level."""
    with h5py.File(path, "r+") as file:
        level = file["VTKHDF/Level0"]
        width, values = level.attrs["Spacing"][0], level["CellData/velocity"]
        vortex, begin = np.zeros_like(values[...]), 0
        for box in level["AMRBox"][:]:
            _, y, x = np.meshgrid(*(width * (np.arange(box[2 * d], box[2 * d + 1] + 1) + 0.5) for d in (2, 1, 0)), indexing="ij")
            vortex[begin : begin + x.size, 0], vortex[begin : begin + x.size, 1] = velocity(x.ravel(), y.ravel(), 0.0)
            begin += x.size
        values[...] = vortex


def error(karst_package, path):
    """|u - exact| in cells of the finest level, [z, y, x]."""
    with karst_package.Plotfile(path) as plot:
        u = plot.uniform("velocity")
    place = [(np.arange(n) + 0.5) / u.shape[2] for n in u.shape[:3]]
    exact = velocity(place[2][None, None, :], place[1][None, :, None], END)
    return np.hypot(u[..., 0] - exact[0], u[..., 1] - exact[1])


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--package", required=True)
    options = arguments.parse_args()
    sys.path.insert(0, options.package)
    import karst as package

    check = Checks()
    with program_and_folder(options) as (karst, folder):
        def run(name, deck, *changes, ranks=1):
            (folder / f"{name}.toml").write_text(deck)
            result = karst.run(["run", f"{name}.toml", "--out", name, *changes], folder, ranks)
            if result.status != 0:
                check(name, False, str(result))
                sys.exit(check.status)
            return folder / name / "plot.vtkhdf"

        fine = "grid.cells=[128, 64, 2]"
        write_vortex(run("start", DECK.format(start="", end=1e-6, dt=1e-6), fine))
        deck = DECK.format(start='start_file = "start/plot.vtkhdf"', end=END, dt=END / STEPS)
        uniform = error(package, run("fine", deck, fine))
        check("fine cells: error below 4 % of the speed around the centre", uniform.max() < 0.04 * FASTEST, uniform.max())
        coarse = error(package, run("coarse", deck))
        check("and a third of that of the coarse ones", uniform.max() < coarse.max() / 3.0, coarse.max())
        followed = error(package, run("followed", deck + FOLLOWED, "grid.levels=2", ranks=2))
        excess = (followed - uniform).max()
        check("followed, on two ranks: nowhere more than a tenth above the error of fine cells",
              excess < 0.1 * uniform.max(), f"{excess} above {uniform.max()}")
        check("and no more in the mean", followed.mean() < 1.01 * uniform.mean(), f"{followed.mean()}, {uniform.mean()}")
        changes = sum("The grid follows" in line for line in (folder / "followed/log.txt").read_text().splitlines())
        check("the grid has followed", changes >= 2, changes)
    return check.status


if __name__ == "__main__":
    sys.exit(main())

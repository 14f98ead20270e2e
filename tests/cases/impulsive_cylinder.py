#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cylinder in an unbounded stream that starts impulsively, at Re = U 2R/ν = 40 and 550: drag coefficients
F / (ρ U² R b) at times T = U t / R against a computation of high order in polar coordinates (docs/verification.md). The
flow is symmetric, so the domain is the upper half, 20 R high, which alone makes the stream beside the cylinder 0.2 %
faster. The impulse does not count as drag: all coefficients are positive and below 20.

    impulsive_cylinder.py --program KARST --mpiexec MPIEXEC [--reynolds RE ...]
"""
import csv
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

WITHIN = 0.01
COARSE = 8  # cells of level 0 per radius
# Reynolds number: levels, largest time step [R/U], and the drag coefficients
CASES = {
    40: (2, 0.05, {0.2: 3.9180, 0.4: 2.9595, 0.6: 2.5796, 1.0: 2.2660, 1.5: 2.1259, 2.0: 2.0650}),
    550: (4, 0.02, {0.2: 1.0091, 0.4: 0.7801, 0.6: 0.7202, 1.0: 0.7568, 1.5: 0.9243, 2.0: 1.1245, 3.0: 1.2999, 4.0: 1.2204}),
}
# Regions of the finest level, of the one below it, ...: x and y [R]
REGIONS = (((18.75, 0), (21.25, 1.25)), ((18.5, 0), (22.5, 1.5)), ((17.5, 0), (24, 2.5)))


def deck(reynolds):
    levels, dt, reference = CASES[reynolds]
    depth = 1 / COARSE
    refined = "".join(f"[[grid.refine]]\nwhere = \"region\"\nlo = [{lo[0]}, {lo[1]}, 0]\nhi = [{hi[0]}, {hi[1]}, {depth}]\n"
                      f"level = {levels - 1 - n}\n" for n, (lo, hi) in enumerate(REGIONS[:levels - 1]))
    return f"""
[[geometry.solid]]
shape = "cylinder"
center = [20, 0, 0]
axis = [0, 0, 1]
radius = 1
mineral = "cylinder"
[grid]
size = [40, 20, {depth}]
cells = [{40 * COARSE}, {20 * COARSE}, 1]
levels = {levels}
periodic = [false, false, true]
{refined}[fluid]
viscosity = {2 / reynolds}
density = 1.0
[flow]
model = "navier-stokes"
sides = "symmetry"
[[flow.inlet]]
side = "-x"
velocity = 1.0
profile = "1"
[[flow.body]]
name = "cylinder"
mineral = "cylinder"
area = {depth}
[time]
end = {max(reference)}
cfl = 1
dt = {dt}
[output]
directory = "out"
plot = []
"""


def wrong_with(karst, reynolds):
    with tempfile.TemporaryDirectory(prefix="karst_case_") as name:
        folder = Path(name)
        (folder / "cylinder.toml").write_text(deck(reynolds))
        result = karst.run(["run", "cylinder.toml"], folder, threads=2)
        if result.status != 0:
            return [f"Re {reynolds}: {result}"]
        rows = list(csv.DictReader((folder / "out" / "history.csv").read_text().splitlines()))
    times = [float(row["time_s"]) for row in rows]
    drag = [float(row["cylinder_force_coefficient_x"]) for row in rows]
    wrong = [f"Re {reynolds}, T = {t:.3f}: {c:.4f} is no drag" for t, c in zip(times, drag) if not 0 < c < 20]
    for time, expected in CASES[reynolds][2].items():
        n = next(n for n, t in enumerate(times) if t >= time * (1 - 1e-9))
        part = (time - times[n - 1]) / (times[n] - times[n - 1])
        found = drag[n - 1] + part * (drag[n] - drag[n - 1])
        print(f"Re {reynolds}, T = {time}: {found:.4f}, {100 * (found / expected - 1):+.2f} %", flush=True)
        if not abs(found / expected - 1) <= WITHIN:
            wrong.append(f"Re {reynolds}, T = {time}: {found:.4f} in place of {expected}")
    return wrong


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--reynolds", type=int, nargs="*", default=list(CASES), choices=list(CASES))
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    wrong = [problem for reynolds in options.reynolds for problem in wrong_with(karst, reynolds)]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

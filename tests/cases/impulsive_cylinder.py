#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cylinder in an unbounded stream that starts at once, Re = U 2R/ν = 40: drag coefficients F / (ρ U² R b) at times
T = U t / R against a high-order computation in polar coordinates (docs/verification.md). The domain is 40 R wide, which
makes the stream beside the cylinder 0.2 % faster; cells at its wall are R/16. No step contains the impulse: all
coefficients are positive and below 20 (9.5 in the first step, T = 0.026).

    impulsive_cylinder.py --program KARST --mpiexec MPIEXEC
"""
import csv
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

REFERENCE = {0.2: 3.9180, 0.4: 2.9595, 0.6: 2.5796, 1.0: 2.2660, 1.5: 2.1259, 2.0: 2.0650}
WITHIN = 0.01

DECK = """
[[geometry.solid]]
shape = "cylinder"
center = [20, 20, 0]
axis = [0, 0, 1]
radius = 1
mineral = "cylinder"
[grid]
size = [40, 40, 0.5]
cells = [80, 80, 1]
levels = 4
periodic = [false, false, true]
[[grid.refine]]
where = "region"
lo = [14, 14, 0]
hi = [28, 26, 0.5]
[[grid.refine]]
where = "region"
lo = [17.5, 17.5, 0]
hi = [24, 22.5, 0.5]
level = 2
[[grid.refine]]
where = "region"
lo = [18.5, 18.5, 0]
hi = [22.5, 21.5, 0.5]
level = 3
[fluid]
viscosity = 0.05
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
area = 1.0
[time]
end = 2.0
cfl = 1
dt = 0.05
[output]
directory = "out"
plot = []
"""


def main():
    options = parser(__doc__).parse_args()
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cylinder.toml").write_text(DECK)
        result = karst.run(["run", "cylinder.toml"], folder, threads=2)
        if result.status != 0:
            sys.exit(str(result))
        rows = list(csv.DictReader((folder / "out" / "history.csv").read_text().splitlines()))
    times = [float(row["time_s"]) for row in rows]
    drag = [float(row["cylinder_force_coefficient_x"]) for row in rows]
    wrong = [f"T = {t:.3f}: {c:.4f} is no drag" for t, c in zip(times, drag) if not 0 < c < 20]
    for time, expected in REFERENCE.items():
        n = next(n for n, t in enumerate(times) if t >= time * (1 - 1e-9))
        part = (time - times[n - 1]) / (times[n] - times[n - 1])
        found = drag[n - 1] + part * (drag[n] - drag[n - 1])
        print(f"T = {time}: {found:.4f}, {100 * (found / expected - 1):+.2f} %")
        if not abs(found / expected - 1) <= WITHIN:
            wrong.append(f"T = {time}: {found:.4f} in place of {expected}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

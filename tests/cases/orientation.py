#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Acid displaces brine around a grain of calcite, with default steps: the amount dissolved when the front arrives does not
depend on the axis of the flow, on boxes, ranks, or on elements that both waters contain in equal amounts; it is within 5 % of
that with small steps, and the reported error covers cells half as wide, which it is for the most part.

    orientation.py --program KARST --mpiexec MPIEXEC
"""
import json
import sys

from support import parser, program_and_folder

CENTRE, CELLS = (6.5, 4.5, 5.5), (16, 10, 10)  # in cells of 62.5 µm, along the flow and across
WIDTH = 62.5e-6


def deck(axis, salt):
    """The problem with its first direction along the axis, the others in order."""
    def turned(values):
        return [values[(d - axis) % 3] for d in range(3)]
    brine = '"Na 0.1", "Cl 0.1", ' if salt else ""
    return f"""
[[geometry.solid]]
shape = "sphere"
center = {[c * WIDTH for c in turned(CENTRE)]}
radius = {3.1 * WIDTH}
mineral = "calcite"
periodic = true
[grid]
cells = {turned(CELLS)}
size = {[n * WIDTH for n in turned(CELLS)]}
periodic = {str(turned([False, True, True])).lower()}
[flow]
model = "stokes"
drive = "velocity"
velocity = 1e-4
axes = ["{"xyz"[axis]}"]
estimate_error = false
tolerance = 1e-11
[transport]
diffusivity = 1e-9
[chemistry]
initial = "fresh"
inlet = "acid"
[[chemistry.solution]]
name = "fresh"
pH = "charge"
totals = [{brine}"C(4) 1e-3 CO2(g) -2.5", "Ca 1e-3 Calcite 0"]
[[chemistry.solution]]
name = "acid"
pH = "charge"
totals = [{brine}"C(4) 0.03 CO2(g) 0"]
[[chemistry.mineral]]
name = "calcite"
phase = "Calcite"
wall = "calcite"
rates = ["0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"]
[time]
end_pore_volumes = 0.35
[output]
plot = []
"""


def dissolved(karst, folder, axis=0, salt=True, ranks=1, options=()):
    """Moles, and what the run tells of them."""
    name = f"axis{axis}_ranks{ranks}_{len(list(folder.iterdir()))}"
    (folder / f"{name}.toml").write_text(deck(axis, salt))
    result = karst.run(["run", f"{name}.toml", "--out", name, *options], folder, ranks)
    if result.status != 0:
        sys.exit(f"{name} failed: {result}")
    mineral = json.loads((folder / name / "summary.json").read_text())["chemistry"]["minerals"][0]
    return mineral["dissolved_mol"], mineral["step_error_mol"]


def main():
    options = parser(__doc__).parse_args()
    failed = 0
    with program_and_folder(options) as (karst, folder):
        first, told = dissolved(karst, folder)
        print(f"dissolved {first:.6e} mol, error told {told / first:.2%}")
        for what, same in (("along y", {"axis": 1}), ("along z", {"axis": 2}), ("boxes of 8", {"options": ["grid.box=8"]}),
                           ("2 ranks", {"ranks": 2}), ("4 ranks", {"ranks": 4, "options": ["grid.box=8"]})):
            change = dissolved(karst, folder, **same)[0] / first - 1.0
            good = abs(change) < 1e-8
            print("passed" if good else "FAILED", f"{what}: {change:.1e}", flush=True)
            failed += not good
        exact = dissolved(karst, folder, options=["time.cfl=0.1"])[0]
        error = abs(first / exact - 1.0)
        good = error < 0.05 and error * exact < told
        print("passed" if good else "FAILED", f"against small steps: {error:.2%} off")
        failed += not good
        finer = dissolved(karst, folder, options=[f"grid.cells={[2 * n for n in CELLS]}"])[0]
        good = 0.2 * told < abs(first - finer) < 1.2 * told
        print("passed" if good else "FAILED", f"against finer cells: {abs(first / finer - 1.0):.2%} off")
        failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

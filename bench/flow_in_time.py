#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a step of transient flow; plain Python, no packages. Prints the tables of docs/performance.md.

    flow_in_time.py KARST [--cells 128] [--rock FILE.raw.gz CELLS VOXEL] [--triad BENCH_TRIAD]

Samples: 27 spheres in a randomly perturbed lattice, 64³ cells; the packing of inputs/spheres on --cells³; a rock of CELLS³
voxels of uint8, 0 in the pores. Steps of equal length, from Stokes flow towards steady flow; times are those of the median step.
"""
import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKING = Path(__file__).resolve().parent.parent / "inputs/spheres/packing.txt"
STEPS = 16
SMALL = 0.02  # CFL number of the step that finds out how fast the fluid is, about
DEFAULTS = """[fluid]
viscosity = 1e-3
density = 1000
[flow]
model = "navier-stokes"
start = "stokes"
{flow}
axes = ["x"]
[output]
plot = []
"""
GRID = """[grid]
size = [1e-3, 1e-3, 1e-3]
cells = [{0}, {0}, {0}]
periodic = [true, true, true]
[[geometry.solid]]
shape = "spheres"
file = "{1}"
columns = "x y z r"
skip_lines = {2}
scale = 1e-3
"""


def gradient(value):
    return DEFAULTS.format(flow=f'drive = "pressure-gradient"\ngradient = [{value}, 0, 0]')


def samples(folder, args):
    """(Name, deck, guess of the fastest fluid over the cell width [1/s]) of each."""
    place = random.Random(7)
    lattice = [(x, y, z) for x in range(3) for y in range(3) for z in range(3)]
    (folder / "lattice.txt").write_text("".join(
        " ".join(f"{(i + .5) / 3 + place.uniform(-.04, .04)}" for i in at) + " 0.14\n" for at in lattice))
    yield "27 spheres, 64³", GRID.format(64, "lattice.txt", 0) + gradient(1e6), 6 / (1e-3 / 64)
    yield f"packing, {args.cells}³", GRID.format(args.cells, PACKING, 2) + gradient(1e6), 1 / (1e-3 / args.cells)
    if args.rock:
        name, cells, voxel = Path(args.rock[0]), int(args.rock[1]), float(args.rock[2])
        (folder / "rock.raw").write_bytes(gzip.open(name).read())
        deck = f'[geometry]\nimage = "rock.raw"\n[geometry.import]\nsize = {[cells] * 3}\ntype = "uint8"\nvoxel = {voxel}\npore = 0\n'
        flow = f'drive = "pressure-drop"\nsides = "no-slip"\npressure_drop = {1e7 * cells * voxel}'
        yield name.name.split("_")[0].title() + f", {cells}³", deck + DEFAULTS.format(flow=flow), 0.1 / voxel


class Bench:
    def __init__(self, karst, folder):
        self.karst, self.folder = karst, folder

    def run(self, deck, dt, steps, ranks=1, threads=1):
        """(summary, timers) of a run."""
        (self.folder / "deck.toml").write_text(deck + f"[time]\ndt = {dt}\nend = {steps * dt}\n")
        launch = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, self.karst, "run", "deck.toml", "--out", "out", "--overwrite"], cwd=self.folder,
                              capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1",
                                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        return [json.loads((self.folder / "out" / name).read_text()) for name in ("summary.json", "timers.json")]

    def dt_of(self, deck, rate):
        """Length of the step with a CFL number of 1."""
        dt = SMALL / rate
        return dt / self.run(deck, dt, 1)[0]["flow_in_time"]["history"]["cfl"][0]


def cost(summary):
    """(Iterations, µs of all cores) of the median step, the latter per fluid cell."""
    steps = sorted(summary["flow_in_time"]["history"]["iterations"])
    cores = summary["ranks"] * summary["threads"]
    return steps[len(steps) // 2], 1e6 * cores * summary["step_seconds"]["median"] / summary["cells"]["fluid"]


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def costs(bench, given, dt):
    def rows():
        for name, deck, _ in given:
            for cfl in (0.05, 0.2, 0.5, 1, 2) if name == given[0][0] else (0.5,):
                summary = bench.run(deck, cfl * dt[name], STEPS)[0]
                iterations, time = cost(summary)
                memory = summary["memory"]
                cells = summary["cells"]["fluid"]
                yield [name, f"{cells:,}".replace(",", " "), f"{cfl}", str(iterations), f"{time:.2f}",
                       f"{memory['bytes_per_fluid_cell']:.0f}", f"{memory['solver'] / cells:.0f}"]
    table(["sample", "fluid cells", "CFL", "iterations", "µs per cell and step", "process, bytes per cell", "solver"], rows())


def creeping(bench):
    """Iterations of unsteady Stokes flow from rest against the length of the step."""
    deck = GRID.format(32, PACKING, 2) + gradient(1).replace('"navier-stokes"', '"unsteady-stokes"').replace('start = "stokes"\n', "")
    def rows():
        for sigma in (1e-3, 1e-2, 0.05, 0.2, 1, 5, 50, 1e3, 1e6):
            steps = bench.run(deck, sigma * (1e-3 / 32) ** 2 / 1e-6, 12)[0]["flow_in_time"]["history"]["iterations"]
            yield [f"{sigma:g}", str(steps[0]), str(steps[1]), f"{sum(steps[2:]) / 10:.1f}"]
    table(["ν dt / h²", "first step", "second", "mean of steps 3 to 12"], rows())


def phases(bench, deck, dt):
    timers = bench.run(deck, 0.5 * dt, STEPS)[1]["timers"]
    seconds = {}
    for t in timers:
        if t["path"][0] == "step":
            seconds.setdefault(tuple(t["path"]), t["mean_s"])
    of_step = seconds["step",]
    rows = [(path[-1], s) for path, s in seconds.items() if len(path) == 2]
    rows.append(("the rest", of_step - sum(s for _, s in rows)))
    table(["part of a step", "share"], ([name, f"{100 * s / of_step:.0f} %"] for name, s in sorted(rows, key=lambda r: -r[1])))


def cores(bench, deck, dt):
    def rows():
        for ranks, threads in ((1, 1), (1, 2), (2, 1)):
            summary, timers = bench.run(deck, 0.5 * dt, STEPS, ranks, threads)
            step = next(t for t in timers["timers"] if t["path"] == ["step"])
            iterations, time = cost(summary)
            yield [f"{ranks} x {threads}", str(iterations), f"{time / ranks / threads:.2f}", f"{step['messages'] / STEPS:.0f}",
                   f"{step['bytes'] / STEPS / 1e6:.2f}", f"{step['collectives'] / STEPS:.0f}"]
    table(["ranks x threads", "iterations", "µs per cell and step, wall", "messages", "MB", "collectives of a rank and step"], rows())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("karst")
    parser.add_argument("--cells", type=int, default=128, help="of the packing, per direction")
    parser.add_argument("--rock", nargs=3, metavar=("FILE", "CELLS", "VOXEL"))
    parser.add_argument("--triad", help="program that measures the bandwidth of memory")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(str(Path(args.karst).resolve()), Path(place))
        given = list(samples(bench.folder, args))
        dt = {name: bench.dt_of(deck, rate) for name, deck, rate in given}
        if args.triad:
            print(re.sub(r"\n+", "; ", subprocess.run([args.triad], check=True, capture_output=True, text=True).stdout.strip()), "\n")
        costs(bench, given, dt)
        print("packing, 32³, unsteady Stokes flow from rest:\n")
        creeping(bench)
        name, deck, _ = given[0]
        print(f"{name}, CFL 0.5:\n")
        phases(bench, deck, dt[name])
        cores(bench, deck, dt[name])


if __name__ == "__main__":
    main()

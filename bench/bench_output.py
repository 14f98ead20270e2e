#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of checkpoints and plotfiles, the cost of writing them, and plain writes of the same bytes; plain Python, no packages.

    bench_output.py KARST [--cells 64] [--ranks 1]

Transient flow through 3 x 3 x 3 spheres with increasing overlap, so that more and more boxes contain no fluid; a checkpoint and a
plotfile every ten steps. A plain write is one file of that size, with write and fsync in the same folder, in the same run.
"""
import argparse
import contextlib
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

STEPS, EVERY, DT = 30, 10, 1e-4
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                   OPENBLAS_NUM_THREADS="1")


def deck(cells, radius):
    """Spheres of a radius in lattice spacings, on a lattice of 3 x 3 x 3 in a millimetre cube."""
    centres = "".join(f"{(x + .5) / 3e3} {(y + .5) / 3e3} {(z + .5) / 3e3} {radius / 3e3}\n"
                      for x in range(3) for y in range(3) for z in range(3))
    text = f"""[[geometry.solid]]
shape = "spheres"
file = "spheres.txt"
columns = "x y z r"
[grid]
cells = [{cells}, {cells}, {cells}]
size = [1e-3, 1e-3, 1e-3]
box = 8
periodic = [true, true, true]
[fluid]
viscosity = 1e-3
[flow]
model = "navier-stokes"
drive = "pressure-gradient"
gradient = [100, 0, 0]
axes = ["x"]
[time]
end = {STEPS * DT}
dt = {DT}
output = {EVERY * DT}
[checkpoint]
every_steps = {EVERY}
[output]
plot = ["velocity", "pressure"]
"""
    return text, centres


def seconds_of(timers, name):
    """Of a timer at the top of the table: its calls and seconds."""
    found = re.search(rf"^{name} +(\d+) .*? ([\d.]+) (s|ms|µs|ns) +[\d.]+ +[\d.]+ %$", timers, re.M)
    return (int(found[1]), float(found[2]) * UNITS[found[3]]) if found else (0, 0.0)


def plain_write(folder, size):
    """Seconds of a write of so many bytes, the best of three."""
    data, best = os.urandom(size), 1e9
    for _ in range(3):
        start = time.perf_counter()
        with open(folder / "plain", "wb") as file:
            file.write(data)
            os.fsync(file.fileno())
        best = min(best, time.perf_counter() - start)
        os.remove(folder / "plain")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("karst", type=Path)
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--ranks", type=int, default=1)
    o = parser.parse_args()
    launch = [] if o.ranks == 1 else ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(o.ranks)]
    print("porosity | boxes pruned | fluid cells | state, bytes per fluid cell | plotfile, bytes per fluid cell | state, MB/s | plain | "
          "plotfile, MB/s | plain | states, share of the steps | plotfiles, share of the steps")
    for radius in (0.3, 0.45, 0.55, 0.62):
        with tempfile.TemporaryDirectory(prefix="karst_bench_") as place:
            folder = Path(place)
            text, centres = deck(o.cells, radius)
            (folder / "deck.toml").write_text(text)
            (folder / "spheres.txt").write_text(centres)
            folder_of_states = folder / "out" / "karst-unfinished" / "solved"
            run = subprocess.Popen([*launch, str(o.karst.resolve()), "run", "deck.toml", "--out", "out", "-j", "1"], cwd=folder,
                                   env=ENVIRONMENT, stdout=subprocess.DEVNULL)
            state = 0
            while run.poll() is None:  # states go with the end of the run
                with contextlib.suppress(FileNotFoundError):
                    state = (folder_of_states / "flow_checkpoint.h5").stat().st_size
                time.sleep(0.01)
            if run.returncode != 0:
                raise SystemExit(f"the run ended with status {run.returncode}")
            timers = (folder / "out" / "timers.txt").read_text()
            summary = json.loads((folder / "out" / "summary.json").read_text())
            cells, plot = summary["cells"]["fluid"], (folder / "out" / "output_0001.vtkhdf").stat().st_size
            steps = seconds_of(timers, "step")[1]
            states, state_seconds = seconds_of(timers, "solves to disk")
            plots, plot_seconds = seconds_of(timers, "plotfile")
            rates = [size / 1e6 / seconds for size, seconds in (
                (state, state_seconds / states), (state, plain_write(folder, state)),
                (plot, plot_seconds / plots), (plot, plain_write(folder, plot)))]
            print(f"{summary['porosity']:.3f} | {summary['cells']['boxes_pruned']} of {(o.cells // 8) ** 3} | {cells} | {state / cells:.0f} | "
                  f"{plot / cells:.1f} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[2]:.0f} | {rates[3]:.0f} | "
                  f"{100 * state_seconds / states * (STEPS // EVERY) / steps:.1f} % | {100 * plot_seconds / plots * (STEPS // EVERY) / steps:.1f} %",
                  flush=True)


if __name__ == "__main__":
    main()

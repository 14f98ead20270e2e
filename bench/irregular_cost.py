#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ratio of the time of a step for an irregular cell and for a cell away from the wall: 48³ cells with one sphere, then with 216.

    irregular_cost.py KARST
"""
import csv
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

N, WIDTH = 48, 1e-5  # cells per direction, [m]
TRANSPORT = ('[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n[transport]\npeclet = {}\n'
             '[[transport.component]]\nname = "tracer"\ninlet = "1"\n[time]\nend = 1.0\ndt = 0.02\n[output]\nplot = []\n')
FLOW = ('[fluid]\nviscosity = 1e-3\n[flow]\nmodel = "navier-stokes"\naxes = ["x"]\ndrive = "pressure-drop"\npressure_drop = 0.1\n'
        '[time]\nend = 2e-3\ndt = 1e-4\n[output]\nplot = []\n')
KINDS = {"transport, Péclet number 10": (TRANSPORT.format(10), "transport", "transport.csv"),
         "transport, Péclet number 1": (TRANSPORT.format(1), "transport", "transport.csv"),
         "flow with inertia": (FLOW, "step", "history.csv")}
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


def deck(spheres, radius):
    edge = N * WIDTH
    text = f"[grid]\nsize = {[edge] * 3}\ncells = {[N] * 3}\nperiodic = [false, true, true]\n"
    for place in itertools.product(range(spheres), repeat=3):
        center = [edge * (i + 0.5) / spheres for i in place]
        text += f'[[geometry.solid]]\nshape = "sphere"\ncenter = {center}\nradius = {radius * edge / spheres}\n'
    return text


def per_step(karst, text, timer, history):
    """Seconds of a step, regular and irregular cells."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "deck.toml").write_text(text)
        subprocess.run([karst, "run", "deck.toml", "--out", "out", "-j", "1"], cwd=place, check=True, capture_output=True)
        level = json.loads((Path(place) / "out/summary.json").read_text())["levels"][0]
        steps = len(list(csv.DictReader((Path(place) / "out" / history).open())))
        row = re.search(rf"^{timer} +\d+ +([\d.]+) (\S+)", (Path(place) / "out/timers.txt").read_text(), re.M)
    return float(row[1]) * UNITS[row[2]] / steps, level["fluid"] - level["irregular"], level["irregular"]


def main():
    karst = str(Path(sys.argv[1]).resolve())
    for name, (text, timer, history) in KINDS.items():
        (a, regular_a, cut_a), (b, regular_b, cut_b) = (per_step(karst, deck(n, r) + text, timer, history) for n, r in ((1, 0.2), (6, 0.42)))
        regular = (a * cut_b - b * cut_a) / (regular_a * cut_b - regular_b * cut_a)
        irregular = (a - regular * regular_a) / cut_a
        print(f"{name}: {1e9 * regular:.0f} ns for a cell away from the wall, {1e9 * irregular:.0f} ns for an irregular one, {irregular / regular:.1f} times")


if __name__ == "__main__":
    main()

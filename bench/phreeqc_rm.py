#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of bench_chemistry with PhreeqcRM (PyPI: phreeqcrm), alternating with Karst, as a table of docs/performance.md.

    bench/phreeqc_rm.py build/release/bench/bench_chemistry databases/phreeqc.dat [--threads 1]

Both: a thousand cells, twenty steps after a first one, processor time of all threads; the smallest figure of three rounds counts.
PhreeqcRM starts from the previous step, so there is no cold start of it; its H, O and charge are constant, the other totals change.
"""
import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import phreeqcrm

CELLS, STEPS, DT, RATE, ROUNDS = 1000, 20, 10.0, 1e-6, 3
CASES = {3: (["Ca", "C(4)"], ["Calcite"]),
         6: (["Ca", "C(4)", "Na", "Cl", "Mg"], ["Calcite", "Dolomite"]),
         12: (["Ca", "C(4)", "Na", "Cl", "Mg", "K", "S(6)", "Si", "Al", "Sr", "Ba"], ["Calcite", "Dolomite", "Gypsum"])}


def described(elements, minerals):
    text = "SOLUTION 1\n units mol/kgw\n pH 7.5\n" + "".join(f" {e} 1e-3\n" for e in elements) + "END\n"
    if not minerals:
        return text
    rates = "".join(f' {m}\n -start\n 10 SAVE {RATE} * (1 - SR("{m}")) * TIME\n -end\n' for m in minerals)
    return text + f"RATES\n{rates}KINETICS 1\n" + "".join(f" {m}\n -m0 1000\n" for m in minerals) + "END\n"


def phreeqc_rm(database, elements, minerals, change, threads):
    """Microseconds of processor time per cell and step."""
    engine = phreeqcrm.PhreeqcRM(CELLS, threads)
    engine.LoadDatabase(str(database))
    engine.SetRebalanceFraction(0.0)
    engine.SetUnitsSolution(2)
    engine.SetUnitsKinetics(0)
    engine.SetPorosity([1.0] * CELLS)
    engine.SetRepresentativeVolume([1.0] * CELLS)
    engine.SetSaturation([1.0] * CELLS)
    engine.RunString(True, True, True, described(elements, minerals))
    n = engine.FindComponents()
    initial = [1] * CELLS + [-1] * (5 * CELLS) + [1 if minerals else -1] * CELLS
    engine.InitialPhreeqc2Module(initial)
    engine.SetTime(0.0)
    engine.SetTimeStep(0.0)
    engine.RunCells()
    first = np.array(engine.GetConcentrations()).reshape(n, CELLS)
    held = [name in ("H", "O", "Charge", "H2O") for name in engine.GetComponents()]
    random, spent = np.random.default_rng(1), 0.0
    for step in range(STEPS + 1):
        factors = 1.0 + change * random.uniform(-1.0, 1.0, first.shape)
        factors[held] = 1.0
        engine.SetConcentrations(list((first * factors).ravel()))
        engine.SetTime(DT * step)
        engine.SetTimeStep(DT if minerals else 0.0)
        begin = time.process_time()
        engine.RunCells()
        spent += time.process_time() - begin if step else 0.0
    return 1e6 * spent / (CELLS * STEPS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("database", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait take no processor time
    best, theirs = {}, {}
    for _ in range(ROUNDS):
        done = subprocess.run([arguments.program, arguments.database, str(arguments.threads)], stdout=subprocess.PIPE, check=True, text=True)
        for line in map(json.loads, done.stdout.splitlines()):
            key = (line["what"], line["primaries"], line["cold"], line["change"])
            best[key] = min(best.get(key, line), line, key=lambda one: one["us"])
            if line["cold"]:
                continue
            elements, minerals = CASES[line["primaries"]]
            us = phreeqc_rm(arguments.database, elements, minerals if line["what"] == "kinetics" else [], line["change"], arguments.threads)
            theirs[key] = min(theirs.get(key, us), us)
    print("| | primaries | species, minerals | change | Karst, µs | Newton steps | bytes | PhreeqcRM, µs |\n|---|---|---|---|---|---|---|---|")
    for key, line in best.items():
        what, primaries, cold, change = key
        other = f"{theirs[key]:.0f}" if key in theirs else ""
        size = f"{line['bytes']:.0f}" if what == "kinetics" else "0"
        print(f"| {what} | {primaries} | {line['species']}, {line['minerals'] if what == 'kinetics' else 0} | {'cold' if cold else f'{change:g}'} "
              f"| {line['us']:.1f} | {line['newton_steps']:.1f} | {size} | {other} |")
        assert line["failed"] == 0, line


if __name__ == "__main__":
    main()

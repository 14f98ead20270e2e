#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Decks of transport in time, from the deck to the curves.

    transport_decks.py --program KARST --mpiexec MPIEXEC --inputs FOLDER

The first part of inputs/tracer and inputs/reactive, on 1 and 2 ranks: every step stays within the range of the data and
loses nothing, the outlet's concentrations too; the curves of both runs are the same to the tolerance of the solves."""
import csv
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

PORE_VOLUMES = 0.25
BOUNDS = 1e-13  # asked of any transport run
MASS = 1e-12
SAME = 1e-6  # of curves, on other ranks


def lines(folder):
    with open(folder / "transport.csv", newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items() if value} for row in csv.DictReader(file)]


def wrong_with(rows):
    """What a run does wrong, in words."""
    names = [key[:-len("_imbalance")] for key in rows[0] if key.endswith("_imbalance")]
    for row in rows:
        for name in names:
            if row[f"{name}_imbalance"] > MASS:
                yield f"{name}: a step misses {row[f'{name}_imbalance']}"
            values = [row[f"{name}_min"], row[f"{name}_max"]] + ([row[f"{name}_outlet"]] if f"{name}_outlet" in row else [])
            if min(values) < -BOUNDS or max(values) > 1.0 + BOUNDS:
                yield f"{name}: {values} leave 0 to 1 at {row['time_s']} s"


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--inputs", required=True, type=Path)
    given = arguments.parse_args()
    karst, failures = Karst(given.program, given.mpiexec), []
    with tempfile.TemporaryDirectory() as folder:
        for deck in ("tracer", "reactive"):
            runs = []
            for ranks in (1, 2):
                out = Path(folder) / f"{deck}_{ranks}"
                result = karst.run(["run", given.inputs.resolve() / deck / f"{deck}.toml", "--out", out,
                                    f"time.end_pore_volumes={PORE_VOLUMES}", "time.output_pore_volumes=0.2", "output.plot=[]"],
                                   folder, ranks)
                if result.status != 0:
                    failures.append(f"{deck} on {ranks} ranks: {result}")
                    continue
                runs.append(lines(out))
                failures += [f"{deck} on {ranks} ranks: {text}" for text in wrong_with(runs[-1])][:3]
            if len(runs) == 2 and (len(runs[0]) != len(runs[1]) or any(
                    abs(a[key] - b[key]) > SAME for a, b in zip(*runs) for key in a if key.endswith(("_outlet", "_mean")))):
                failures.append(f"{deck}: the curves of 1 and 2 ranks differ")
    print("\n".join(failures) or "passed: transport decks")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

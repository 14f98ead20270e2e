#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.balance = "feedback": boxes move away from a rank that is busy for longer than the others, and nothing else changes.

    balance.py --program KARST --mpiexec MPIEXEC --preload libslow_rank.so [--figures]

Half of the sample is dense with calcite that reacts, half is open around one grain that does not; one rank of two works
four times as long for the same (libslow_rank.so). Boxes dealt out by their cells cannot know that. The gain is many times
the price of a move, so that boxes move on a busy machine, too. With --figures, for docs/performance.md: on cells of half the
width, with a rank that works twice as long and with one that does not, the seconds of both ways.
"""
import csv
import itertools
import json
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

SAME = 1e-6  # of what has dissolved and of means, as between other numbers of ranks
CELLS, BOX = (48, 24, 24), 8
WIDTH = 1e-5  # [m]
KINDS = ("off", "start", "feedback")


def sphere(center, radius, mineral):
    return f'[[geometry.solid]]\nshape = "sphere"\ncenter = {[c * WIDTH for c in center]}\nradius = {radius * WIDTH}\nmineral = "{mineral}"\n'


def deck(finer=1):
    half = CELLS[1]
    grains = [sphere([8 * (i + 0.5) for i in place], 3.5, "calcite") for place in itertools.product(range(3), repeat=3)]
    grains.append(sphere([1.5 * half, 0.5 * half, 0.5 * half], 5, "quartz"))
    return "".join(grains) + (
        f'[grid]\nsize = {[n * WIDTH for n in CELLS]}\ncells = {[finer * n for n in CELLS]}\nbox = {BOX}\nperiodic = [false, true, true]\n'
        '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n[transport]\npeclet = 5\n'
        '[chemistry]\ndatabase = "phreeqc.dat"\ninitial = "water"\ninlet = "acid"\nskip = 0\nwalls = "in-turn"\n'
        '[[chemistry.solution]]\nname = "water"\npH = 8\ntotals = ["Na 1e-2 charge", "Cl 1e-2"]\n'
        '[[chemistry.solution]]\nname = "acid"\npH = 3\ntotals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]\n'
        '[[chemistry.mineral]]\nname = "calcite"\nphase = "Calcite"\nwall = "calcite"\nrates = ["0.89 H+ 1", "5e-4 CO2 1", "6.6e-7"]\n'
        '[time]\nend_pore_volumes = 1\n[output]\nplot = ["concentration"]\n')


def columns(path, names):
    rows = list(csv.DictReader(path.open()))
    return {name: [float(row[name]) for row in rows] for name in names}


def tell(looks):
    for look in looks:
        print("after step {after_step}: imbalance {imbalance:.3f}, expected {expected:.3f}, gain {gain_s:.3g} s, move {move_s:.3g} s {boxes_move}".format(**look))


def figures(karst, folder, preload):
    (folder / "deck.toml").write_text(deck(2))
    for slowness in (1, 2):
        for kind in KINDS[1:]:
            result = karst.run(["run", "deck.toml", "--out", kind, "--overwrite", f'run.balance="{kind}"', "time.end_pore_volumes=0.1"], folder, 2,
                               variables={"LD_PRELOAD": preload, "SLOW_RANK": "1", "SLOWNESS": str(slowness)})
            summary = json.loads((folder / kind / "summary.json").read_text())
            steps = len((folder / kind / "transport.csv").read_text().splitlines()) - 1
            print(f"a rank {slowness} times as slow, {kind}: {result.seconds:.1f} s, {steps} steps")
            tell(summary.get("feedback_balance", {}).get("looks", []))


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    arguments.add_argument("--figures", action="store_true")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    slow = {"LD_PRELOAD": options.preload, "SLOW_RANK": "1", "SLOWNESS": "4"}
    problems = []
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(place)
        if options.figures:
            return figures(karst, folder, options.preload)
        (folder / "deck.toml").write_text(deck())
        for kind in KINDS:
            more = ["time.end_pore_volumes=0.02"] if kind == "off" else []
            result = karst.run(["run", "deck.toml", "--out", kind, f'run.balance="{kind}"', *more], folder, 2, variables=slow)
            if result.status != 0:
                print(f"FAILED {kind}: {result}")
                return 1
        summaries = {kind: json.loads((folder / kind / "summary.json").read_text()) for kind in KINDS}
        looks = summaries["feedback"]["feedback_balance"]["looks"]
        tell(looks)
        move = next((i for i, look in enumerate(looks) if look["boxes_move"]), None)
        if move is None or move + 1 == len(looks):
            problems.append("boxes do not move")
        # Four times the time for about the same: 4 / ((4 + 1) / 2), on a busy machine less.
        elif not (looks[move]["imbalance"] > 1.3 and looks[move]["expected"] < 1.15):
            problems.append("boxes move for nothing")
        elif not looks[move + 1]["imbalance"] - 1.0 < 0.6 * (looks[move]["imbalance"] - 1.0):
            problems.append("moving has not helped")
        if any(look["boxes_move"] and look["gain_s"] <= look["move_s"] for look in looks):
            problems.append("a move does not pay")
        if any("feedback_balance" in summaries[kind] for kind in ("off", "start")):
            problems.append("boxes move unasked")
        if summaries["off"]["levels"][0]["imbalance"] != 1.0:  # 27 boxes for each
            problems.append(f'off: shares of boxes are not equal: {summaries["off"]["levels"][0]["imbalance"]}')
        if summaries["feedback"]["warnings"] != summaries["start"]["warnings"] or "solves_from_earlier_run" in summaries["feedback"]:
            problems.append("the summary tells of another run")
        if sorted(p.name for p in (folder / "start").iterdir()) != sorted(p.name for p in (folder / "feedback").iterdir()):
            problems.append("other files")
        for name, which in (("transport.csv", ("time_s", "H_mean", "Ca_mean")), ("chemistry.csv", ("calcite_dissolved_mol", "pH_mean"))):
            wanted, found = (columns(folder / kind / name, which) for kind in ("start", "feedback"))
            for column, values in found.items():
                scale = max(map(abs, wanted[column]))
                if len(values) != len(wanted[column]) or any(abs(a - b) > SAME * scale for a, b in zip(values, wanted[column])):
                    problems.append(f"another {column}")
    print("FAILED " + "; ".join(problems) if problems else "passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

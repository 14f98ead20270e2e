#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.balance = "feedback": boxes move away from a rank that works longer than the others; the results do not change.

    balance.py --program KARST --mpiexec MPIEXEC --preload libslow_rank.so [--even | --figures] [--ranks N ...]

Half of the sample is dense with calcite that reacts, half is open around one grain that does not; acid displaces water in
equilibrium with calcite. One rank of two, then of four, takes four times as long for the same work (libslow_rank.so), which
the initial distribution by cells cannot take into account. The gain is many times the cost of a redistribution, so that boxes
also move on a busy machine. On cells of half the width:

--even     within ten steps no rank works more than 1.05 times as long as the mean. Processors of many machines change their speed
           for seconds, each differently: here all ranks share one processor, and processor time is measured
--figures  for docs/performance.md: with a rank that takes four times, twice and just as long, the seconds with and without feedback
"""
import itertools
import json
import os
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

SAME = 1e-12  # of all results: the march is the same to the last bit, sums over ranks are not
CELLS, BOX = (48, 24, 24), 8
WIDTH = 1e-5  # [m]
KINDS = ("off", "start", "feedback")
SLOWNESS = 4
BALANCED, WITHIN = 1.05, 10  # imbalance, and steps until it is reached


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
        '[[chemistry.solution]]\nname = "water"\npH = 8\ntotals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3", "Ca 1e-3 Calcite 0"]\n'
        '[[chemistry.solution]]\nname = "acid"\npH = 3\ntotals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]\n'
        '[[chemistry.mineral]]\nname = "calcite"\nphase = "Calcite"\nwall = "calcite"\nrates = ["0.89 H+ 1", "5e-4 CO2 1", "6.6e-7"]\n'
        f'[time]\nend_pore_volumes = {0.25 * finer}\n[output]\nplot = ["concentration"]\n')


def numbers(member):
    if isinstance(member, dict):
        return [x for inner in member.values() for x in numbers(inner)]
    if isinstance(member, list):
        return [x for inner in member for x in numbers(inner)]
    return [member] if isinstance(member, (int, float)) else []


def others(one, two, name):
    """Names of members of a summary that are not the same: numbers of a list beside its largest one, logarithms beside 1."""
    if "imbalance" in name or "charge" in name:  # round-off itself
        return []
    if isinstance(one, dict) and one.keys() == two.keys():
        return [o for key in one for o in others(one[key], two[key], f"{name}.{key}")]
    if isinstance(one, list) and len(one) == len(two) and any(isinstance(x, (dict, list)) for x in one):
        return [o for i, pair in enumerate(zip(one, two)) for o in others(*pair, f"{name}[{i}]")]
    a, b = numbers(one), numbers(two)
    if not a and not b:
        return [] if one == two else [name]
    size = max([*map(abs, a), 1.0 if "saturation_index" in name else 0.0])
    return [] if len(a) == len(b) and all(abs(x - y) <= SAME * size for x, y in zip(a, b)) else [name]


def tell(looks):
    for look in looks:
        print("after step {after_step}: imbalance {imbalance:.3f}, expected {expected:.3f}, gain {gain_s:.3g} s, move {move_s:.3g} s {boxes_move}".format(**look))


def slow_rank(preload, slowness):
    return {"LD_PRELOAD": preload, "SLOW_RANK": "1", "SLOWNESS": str(slowness)}


def figures(karst, folder, preload):
    (folder / "deck.toml").write_text(deck(2))
    for ranks, slowness, kind in itertools.product((2, 4), (1, 2, 4), KINDS[1:]):
        result = karst.run(["run", "deck.toml", "--out", kind, "--overwrite", f'run.balance="{kind}"', "time.end_pore_volumes=0.1"], folder, ranks,
                           variables=slow_rank(preload, slowness))
        summary = json.loads((folder / kind / "summary.json").read_text())
        print(f'{ranks} ranks, one {slowness} times as slow, {kind}: {result.seconds:.1f} s, {summary["transport"]["steps"]} steps', flush=True)
        tell(summary.get("feedback_balance", {}).get("looks", []))


def uneven(karst, folder, preload, ranks):
    """Whether so many ranks are still uneven after some steps."""
    (folder / "deck.toml").write_text(deck(2))
    result = karst.run(["run", "deck.toml", "--out", "even", 'run.balance="feedback"', "time.end_pore_volumes=0.25"], folder, ranks,
                       variables=slow_rank(preload, SLOWNESS))
    if result.status != 0:
        return [f"{result}"]
    looks = json.loads((folder / "even" / "summary.json").read_text())["feedback_balance"]["looks"]
    print(f"{ranks} ranks")
    tell(looks)
    if not looks[0]["imbalance"] > 1.5:
        return ["no rank is slow"]
    least = min(look["imbalance"] for look in looks if look["after_step"] <= WITHIN)
    return [] if least < BALANCED else [f"within {WITHIN} steps an imbalance of {least:.3f}, not below {BALANCED}"]


def mistakes(karst, folder, preload, ranks):
    """Of runs on so many ranks."""
    problems = []
    (folder / "deck.toml").write_text(deck())
    for kind in KINDS:
        more = ["time.end_pore_volumes=0.02"] if kind == "off" else []
        variables = slow_rank(preload, SLOWNESS) if kind == "feedback" else {}
        result = karst.run(["run", "deck.toml", "--out", kind, f'run.balance="{kind}"', *more], folder, ranks, variables=variables)
        if result.status != 0:
            return [f"{kind}: {result}"]
    summaries = {kind: json.loads((folder / kind / "summary.json").read_text()) for kind in KINDS}
    off, start, feedback = (summaries[kind] for kind in KINDS)
    looks = feedback["feedback_balance"]["looks"]
    tell(looks)
    move = next((i for i, look in enumerate(looks) if look["boxes_move"]), None)
    if move is None or move + 1 == len(looks):
        problems.append("boxes do not move")
    # Four times the time for about the same: 4 / ((4 + ranks - 1) / ranks), on a busy machine less.
    elif not looks[move]["imbalance"] > 1.3:
        problems.append("boxes move for nothing")
    # Any later look: other work on the machine spoils one, and more ranks than cores wait for each other, too.
    elif ranks == 2 and not min(look["imbalance"] for look in looks[move + 1 :]) - 1.0 < 0.6 * (looks[move]["imbalance"] - 1.0):
        problems.append("moving has not helped")
    if any(look["boxes_move"] and look["gain_s"] <= look["move_s"] for look in looks):
        problems.append("a move does not pay")
    if "feedback_balance" in off or "feedback_balance" in start:
        problems.append("boxes move unasked")
    if ranks == 2 and off["levels"][0]["imbalance"] != 1.0:  # 27 boxes for each
        problems.append(f'off: shares of boxes are not equal: {off["levels"][0]["imbalance"]}')
    if feedback["warnings"] != start["warnings"] or "solves_from_earlier_run" in feedback:
        problems.append("the summary tells of another run")
    if sorted(p.name for p in (folder / "start").iterdir()) != sorted(p.name for p in (folder / "feedback").iterdir()):
        problems.append("other files")
    return problems + [f"another {name}" for part in ("transport", "chemistry") for name in others(start[part], feedback[part], part)]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    arguments.add_argument("--even", action="store_true")
    arguments.add_argument("--figures", action="store_true")
    arguments.add_argument("--ranks", type=int, nargs="*", default=[2, 4])
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    problems = []
    if options.even:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # ranks inherit it
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
            if options.figures:
                return figures(karst, Path(place), options.preload)
            find = uneven if options.even else mistakes
            problems += [f"{ranks} ranks: {problem}" for problem in find(karst, Path(place), options.preload, ranks)]
    print("FAILED " + "; ".join(problems) if problems else "passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

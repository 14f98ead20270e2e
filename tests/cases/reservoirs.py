#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reservoirs (flow.reservoir) of every job that has one domain: the run is that of the longer domain written by hand, places in
the deck are those of the sample, and numbers of the sample are of the sample.

    reservoirs.py --program KARST --mpiexec MPIEXEC --preload libkill_at.so

The curves of flow in time, transport and chemistry against those of a deck whose solids, probes, slices, regions and formulas are
moved by hand: 1e-12 of the largest value. Balances of steps close to 1e-12. On two ranks and after --resume the same. The permeability
between open reservoirs is that of the row of samples to 1e-4, and flow in time tends to it.
"""
import csv
import json
import sys
from pathlib import Path

from support import Checks, parser, program_and_folder

# [m], cells along x of the sample and of a reservoir. Places are binary fractions, so that moving them by hand is exact.
H, CELLS, FREE = 2.0**-17, 16, 6
SAME, CLOSED, SAME_ON_RANKS = 1e-12, 1e-12, 1e-6

STOKES = 'model = "stokes"\ndrive = "velocity"\nvelocity = 1e-3\naxes = ["x"]\nestimate_error = false\ntolerance = 1e-9\n'
IN_TIME = 'model = "{}"\ndrive = "pressure-drop"\npressure_drop = 0.5\ndrive_factor = "t < 2e-3 ? 1 : 0.4"\naxes = ["x"]\ntolerance = 1e-8\n'
INLET = 'model = "stokes"\n[[flow.inlet]]\nside = "-x"\nvelocity = 1e-3\nprofile = "1 + y/6e-5"\n'
TRACER = ('[[transport.component]]\nname = "tracer"\ndiffusivity = 1e-8\ninlet = "t < 0.05 ? 1 : 0.5"\ninitial = "0.2*sin(1e5*({x}))"\n'
          '[[transport.region]]\nshape = "sphere"\ncenter = [{11}, 3e-5, 3e-5]\nradius = 1.6e-5\ninitial = "({x})/1.2e-4"\n')
STEADY = ('[transport]\nmode = "steady"\n[[transport.component]]\nname = "acid"\ndiffusivity = 1e-8\ninlet = 1\n'
          '[[transport.wall]]\nrate = 1e-4\n')
ACID = ('[[transport.component]]\nname = "tracer"\ndiffusivity = 1e-9\ninlet = 1\n[chemistry]\ninitial = "water"\ninlet = "acid"\n'
        '[[chemistry.solution]]\nname = "water"\npH = 8\ntotals = ["Na 1e-2 charge", "Cl 1e-2"]\n'
        '[[chemistry.solution]]\nname = "acid"\npH = 3\ntotals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]\n'
        '[[chemistry.mineral]]\nphase = "Calcite"\nwall = "all"\nrates = ["0.89 H+ 1", "5e-4 CO2 1", "6.6e-7"]\n')
PROBE = '[[output.probe]]\nname = "throat"\nposition = [{8.1875}, 3.3e-5, 3.1e-5]\n'
SLICE = '[[output.slice]]\naxis = "x"\nat = {8.1875}\nevery = 0.02\n'
END = "[time]\nend = 0.12\noutput = 0.05\n"
BALLS = "".join(f'[[geometry.solid]]\nshape = "sphere"\ncenter = [{{{x}}}, {y}e-5, 3.09e-5]\nradius = 2.2e-5\n' for x, y in ((4.125, 2.75), (12.25, 3.36)))
DECKS = {  # the rest of the deck, [flow] first; {8.1875}: that cell along x of the sample; {x}: the coordinate in it
    "channel": ("", STOKES + 'sides = "no-slip"\n', TRACER + END + PROBE),
    "balls": (BALLS, STOKES, TRACER + END + "[checkpoint]\nevery_steps = 9\n" + PROBE + SLICE),
    "from an inlet": (BALLS, INLET, TRACER + END + PROBE),
    "refined": (BALLS, INLET, TRACER + END.replace("0.12", "0.03").replace("0.05", "0.03") + PROBE +
                '[[grid.refine]]\nlevel = 1\nwhere = "region"\nlo = [{6}, 1.5e-5, 1.5e-5]\nhi = [{10}, 4.5e-5, 4.5e-5]\n'),
    "steady": (BALLS, STOKES, STEADY),
    "flow in time": (BALLS, IN_TIME.format("navier-stokes"), "[time]\nend = 4e-3\ndt = 2e-4\noutput = 2e-3\n" + PROBE),
    "both in time": (BALLS, IN_TIME.format("unsteady-stokes"), TRACER + "[time]\nend = 4e-3\ndt = 4e-4\n[checkpoint]\nevery_steps = 2\n" + PROBE),
    "at rest": (BALLS, "", '[transport]\naxis = "x"\n' + TRACER + "[time]\nend = 0.1\ndt = 0.01\n" + PROBE),
    "chemistry": (BALLS, STOKES, ACID + END.replace("0.12", "0.06") + PROBE),
}
HISTORIES = ("transport.csv", "profiles.csv", "history.csv", "chemistry.csv")


def deck(name, by_hand):
    solids, flow, rest = DECKS[name]
    moved = FREE if by_hand else 0
    text = solids
    if flow or not by_hand:
        text += "[flow]\n" + ("" if by_hand else f"reservoir = {FREE}\n") + flow
    text += rest
    for cell in ("4.125", "12.25", "8.1875", "11", "6", "10"):
        text = text.replace("{" + cell + "}", repr(H * (float(cell) + moved)))
    text = text.replace("{x}", f"x - {H * moved!r}" if by_hand else "x")
    cells = CELLS + 2 * moved
    return (f'[grid]\ncells = [{cells}, 8, 8]\nsize = [{H * cells!r}, {8 * H!r}, {8 * H!r}]\nbox = 8\n'
            + ("levels = 2\n" if name == "refined" else "") + f'periodic = [false, {"false, false" if name == "channel" else "true, true"}]\n' + text)


def columns(path):
    rows = list(csv.reader(path.open()))
    return {name: [float(row[i] or "nan") for row in rows[1:]] for i, name in enumerate(rows[0])}


def differences(a, b, tolerance):
    """Of the histories in two folders, but for pore volumes, which are those of a sample."""
    found = []
    for name in HISTORIES:
        if (a / name).exists() != (b / name).exists():
            found.append(f"{name} is missing")
        if not (a / name).exists():
            continue
        ours, theirs = columns(a / name), columns(b / name)
        for key, values in ours.items():
            if "pore_volumes" in key or "imbalance" in key or key in ("divergence", "iterations"):
                continue
            size = max((abs(v) for v in values if v == v), default=0.0)
            off = max((abs(p - q) for p, q in zip(values, theirs[key]) if p == p), default=0.0)
            if len(values) != len(theirs[key]) or off > tolerance * size:
                found.append(f"{name}, {key}: {off / size if size else off:.1e} of {size:.3g}, {len(values)} and {len(theirs[key])} rows")
    return found


def run(karst, folder, name, by_hand, out, *more, ranks=1, **given):
    path = folder / f"{name}{' by hand' if by_hand else ''}.toml"
    path.write_text(deck(name, by_hand))
    return karst.run(["run", path, "--out", folder / out, "output.plot=[\"concentration\"]" if "tracer" in deck(name, by_hand) else "output.plot=[]", *more], folder, ranks, **given)


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text())


def steady_permeability(karst, folder, out, text):
    (folder / f"{out}.toml").write_text(text)
    result = karst.run(["run", folder / f"{out}.toml", "--out", folder / out, "output.plot=[]"], folder)
    return summary_of(folder / out)["permeability_m2"][0][0] if result.status == 0 else result


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    options = arguments.parse_args()
    check = Checks()
    with program_and_folder(options) as (karst, folder):
        for name in DECKS:
            ours, theirs = (run(karst, folder, name, by_hand, f"{name} {by_hand}") for by_hand in (False, True))
            if ours.status != 0 or theirs.status != 0:
                check.problems(name, [f"{ours}\n{theirs}"])
                continue
            a, b = folder / f"{name} False", folder / f"{name} True"
            problems = differences(a, b, SAME)
            balances = {k: v for k, v in summary_of(a)["balances"].items() if k != "mass_relative"}
            problems += [f"{k} is {v:.1e}" for k, v in balances.items() if v > (1e-6 if name == "steady" else CLOSED)]
            check.problems(name, problems)
        balls = summary_of(folder / "balls False")
        alone = json.loads((folder / "balls False" / "summary.json").read_text())
        transport = balls["transport"]
        volume = balls["connected_porosity"] * H**3 * CELLS * 64
        check("pore volumes are those of the sample", abs(transport["pore_volume_time_s"] * 1e-3 * (8 * H)**2 / volume - 1) < 1e-6
              and abs(transport["length_m"] / (H * CELLS) - 1) < 1e-12 and alone["flow"][0]["boundaries"] == "reservoirs", transport)
        grid, steady = deck("balls", False), "[flow]\n"
        row = steady_permeability(karst, folder, "row", grid[:grid.index("[[transport")])
        k = balls["permeability_m2"][0][0]
        check(f"permeability {k:.5g} m2, {k / row - 1:.1e} from that of the row of samples", abs(k / row - 1) < 1e-4)
        # Between symmetry or periodic sides the reservoirs have no friction: Δp is all lost in the sample.
        end = run(karst, folder, "flow in time", False, "long", 'flow.model="unsteady-stokes"', 'flow.drive_factor="1"', "time.end=0.1", "time.dt=2e-3", "time.output=0.1")
        u = summary_of(folder / "long")["flow_in_time"]["darcy_velocity_m_s"][0]
        late = u * 1e-3 * H * CELLS / 0.5
        check(f"flow in time tends to it, {late / k - 1:.1e}", end.status == 0 and abs(late / k - 1) < 1e-4)
        for name in ("balls", "both in time"):
            two = run(karst, folder, name, False, f"{name} on 2", ranks=2)
            check.problems(f"{name} on two ranks", [str(two)] if two.status != 0 else differences(folder / f"{name} False", folder / f"{name} on 2", SAME_ON_RANKS))
        at = {"LD_PRELOAD": options.preload, "KILL_OF": "_checkpoint.h5", "KILL_AT": "3"}
        for name in ("balls", "both in time"):
            stopped = run(karst, folder, name, False, f"{name} stopped", variables=at)
            rest = run(karst, folder, name, False, f"{name} stopped", "--resume")
            goes_on = stopped.status != 0 and rest.status == 0 and "continues after step" in rest.out
            again = differences(folder / f"{name} False", folder / f"{name} stopped", 0.0) if goes_on else [f"{stopped}\n{rest}"]
            check.problems(f"{name} with --resume", again)
    return check.status


if __name__ == "__main__":
    sys.exit(main())

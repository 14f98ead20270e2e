#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every job with every option of [output], on one rank, on two, and with one of two ranks without a box; from the start, and resumed.

    outputs.py --program KARST --mpiexec MPIEXEC --preload libkill_at.so [--full] [--kept FOLDER] [JOB ...]

A run that is killed and resumed leaves bitwise the same files as an uninterrupted one; with other ranks and boxes the files and
results are the same. Grids are tiny: this is not a measurement. In short every job runs once, where a rank has no box, and those of
SHORT, which differ in what they write and read again, also on one rank, and killed and resumed; with --full all of it.
"""
import json
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from resume import HISTORIES, clean, differences, plotfiles
from support import Karst, parser

SAME = 5e-3  # answers, on other ranks and boxes, relative: solves end at their tolerances, pressures between lids are small differences
RANKS = {"one rank": (1, 8), "two ranks": (2, 8), "a rank without boxes": (2, 16)}  # ranks, width of a box
GEOMETRY = '["fraction", "distance", "wall_area", "wall_normal", "mineral"{}]'


def rock(periodic=False, cells=(12, 8, 8)):
    """A ball of calcite in the middle of quartz grains at the corners; with boxes of 16 cells there is one."""
    size = [c * 1e-4 for c in cells]
    corners = "".join(f'[[geometry.solid]]\nshape = "sphere"\ncenter = [{x}, {y}, {z}]\nradius = 1.2e-4\nmineral = "quartz"\n'
                      for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2]))
    return (f'[geometry]\nkeep = "all"\n[[geometry.solid]]\nshape = "sphere"\ncenter = [{size[0] / 2}, {size[1] / 2}, {size[2] / 2}]\n'
            f'radius = 2.6e-4\nmineral = "calcite"\n{corners}[grid]\ncells = {list(cells)}\nsize = {size}\n'
            f'periodic = [{"true" if periodic else "false"}, true, true]\n')


def output(fields, in_time=""):
    """All options at once; those of runs in time where `in_time` is the time between slices [s]."""
    text = f"[output]\nplot = {GEOMETRY.format(''.join(f', {chr(34)}{f}{chr(34)}' for f in fields))}\nyt = false\nfiles = 2\n"
    if in_time:
        text += (f'[[output.slice]]\naxis = "z"\nevery = {in_time}\n[[output.slice]]\nname = "mean"\naxis = "y"\nkind = "mean"\n'
                 f'every = {in_time}\n[[output.slice]]\nname = "inlet"\naxis = "x"\nat = 0\nevery = {in_time}\n'
                 '[[output.probe]]\nname = "near"\nposition = [0.5e-4, 4e-4, 0.5e-4]\n'
                 '[[output.probe]]\nname = "far"\nposition = [11.5e-4, 4e-4, 7.5e-4]\n')
    return text


WIDE = (16, 16, 16)  # cells that diffusion and dispersion ask for
FLOW = ["velocity", "speed", "pressure"]
STOKES = '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n'
IN_TIME = ('[fluid]\nviscosity = 1e-3\n[flow]\nmodel = "{}"\naxes = ["x"]\ndrive = "pressure-drop"\npressure_drop = 2\n'
           'drive_factor = "t < 0.004 ? 1 : 0.3"\nanimation = true\n[time]\nend = 0.012\ndt = 1e-3\noutput = 0.005\n')
STEPS = "[checkpoint]\nevery_steps = 3\n"
DYE = '[[transport.component]]\nname = "dye"\ninlet = "t < 20 ? 1 : 0"\ndecay = 1e-3\n'
WALLS = '[[transport.wall]]\nmineral = "calcite"\ncomponent = "dye"\nrate = 1e-5\n'
WATERS = ('[chemistry]\ninitial = "water"\ninlet = "acid"\nspecies = ["CO2"]\nwalls = "{}"\n[[chemistry.solution]]\nname = "water"\npH = 8\n'
          'totals = ["Na 1e-2 charge", "Cl 1e-2"]\n[[chemistry.solution]]\nname = "acid"\npH = 3\n'
          'totals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]\n[[chemistry.mineral]]\nphase = "Calcite"\nwall = "calcite"\n'
          'rates = ["0.89 H+ 1", "5e-4 CO2 1", "6.6e-7"]\n')
DUST = '[[chemistry.mineral]]\nname = "dust"\nphase = "Aragonite"\narea = 0.1\namount = 2e-5\nrates = ["1e-2 H+ 1", "1e-6"]\n'
CLAY = '[[chemistry.exchange]]\nname = "clay"\nsite = "X"\namount = 1e-3\n'
VOLUMES = "[time]\nend_pore_volumes = 0.4\noutput_pore_volumes = 0.15\n"

# Job: deck, and where in summary.json its answer is. Times of slices are a part of those of the run.
JOBS = {
    "flow": (rock(True) + STOKES.replace("pressure-drop", "pressure-gradient").replace('"x"', '"x", "y"').replace("false", "true") + output(FLOW),
             "permeability_m2"),
    "flow between reservoirs": (rock() + STOKES + "reservoir = 4\n" + output(FLOW), "permeability_m2"),
    "flow with inertia": (rock() + STOKES.replace("stokes", "steady").replace("pressure-drop", "velocity") + "velocity = 2e-3\nsteps = [1, 4, 9]\n" +
                          output(FLOW), "permeability_m2"),
    "flow from an inlet": (rock() + '[flow]\nmodel = "steady"\naxes = ["x"]\n[[flow.inlet]]\nside = "-x"\nvelocity = 1e-3\n'
                           '[[flow.body]]\nmineral = "calcite"\narea = 1e-7\n' + output(FLOW), "inlet_flow"),
    "lid-driven flow": (rock() + '[flow]\nmodel = "stokes"\n[[flow.lid]]\nside = "-x"\nvelocity = [0, 1e-3, 0]\n' + output(FLOW), "lid_flow"),
    "dynamic permeability": (rock() + STOKES + '[dynamic_permeability]\naxes = ["x"]\nfrequencies = [10, 1000]\n' + output(FLOW),
                             "dynamic_permeability"),
    "diffusion": (rock(False, WIDE) + '[diffusion]\naxes = ["x", "y"]\n' + output(["concentration"]), "diffusion"),
    "dispersion": (rock(True, WIDE) + STOKES.replace("pressure-drop", "pressure-gradient") + '[dispersion]\naxes = ["x"]\npeclet = [1, 30]\n' +
                   output(FLOW), "dispersion"),
    "steady transport": (rock() + STOKES + '[transport]\nmode = "steady"\npeclet = 5\n' + DYE.replace('"t < 20 ? 1 : 0"', '"1"') + WALLS +
                         output([*FLOW, "concentration"]), "transport"),
    "transport": (rock() + STOKES + "[transport]\npeclet = 5\nanimation = true\n" + DYE + WALLS + VOLUMES + STEPS +
                  output([*FLOW, "concentration"], "6"), "transport"),
    "transport without a flow": (rock() + '[transport]\naxis = "x"\n' + DYE + "[time]\nend = 4\ndt = 0.4\noutput = 1.5\n" + STEPS +
                                 output(["concentration"], "0.5"), "transport"),
    "chemistry": (rock() + STOKES + "[transport]\npeclet = 0.5\n" + WATERS.format("coupled") + VOLUMES + STEPS +
                  output([*FLOW, "concentration", "chemistry"], "3"), "chemistry"),
    "chemistry in cells": (rock() + STOKES + "[transport]\npeclet = 5\nanimation = true\n" + DYE + WATERS.format("in-turn") + DUST + CLAY + VOLUMES +
                           STEPS + output([*FLOW, "concentration", "chemistry"], "6"), "chemistry"),
    "unsteady flow": (rock() + IN_TIME.format("unsteady-stokes") + STEPS + output(FLOW, "0.002"), "flow_in_time"),
    "unsteady flow with inertia": (rock() + IN_TIME.format("navier-stokes").replace("dt = 1e-3", "dt = 1e-3\ncfl = 0.5") + STEPS +
                                   output(FLOW, "0.002"), "flow_in_time"),
    "unsteady flow from an inlet": (rock() + '[flow]\nmodel = "navier-stokes"\naxes = ["x"]\n[[flow.inlet]]\nside = "-x"\nvelocity = 1e-2\n'
                                    '[[flow.body]]\nmineral = "calcite"\narea = 1e-7\n[time]\nend = 0.01\ndt = 1e-3\noutput = 0.004\ncfl = 0.5\n' +
                                    STEPS + output(FLOW, "0.002"), "flow_in_time"),
    "unsteady lid-driven flow": (rock() + '[flow]\nmodel = "unsteady-stokes"\n[[flow.lid]]\nside = "-x"\nvelocity = [0, 1e-3, 0]\n'
                                   "[time]\nend = 0.01\ndt = 1e-3\noutput = 0.004\n" + STEPS + output(FLOW, "0.002"), "flow_in_time"),
    "a flow in time that carries": (rock() + IN_TIME.format("navier-stokes").replace("dt = 1e-3", "dt = 1e-3\ncfl = 0.5") +
                                    "[transport]\nanimation = true\n" + DYE.replace("t < 20", "t < 0.006") + WALLS + STEPS +
                                    output([*FLOW, "concentration"], "0.002"), "transport"),
    "steady jobs before transport": (rock(False, WIDE) + STOKES + '[dynamic_permeability]\naxes = ["x"]\nfrequencies = [100]\n[diffusion]\naxes = ["x"]\n'
                                     "[transport]\npeclet = 5\n" + DYE + VOLUMES + STEPS + output([*FLOW, "concentration"], "6"), "transport"),
}


SHORT = ("flow", "dispersion", "chemistry in cells", "a flow in time that carries")
IN_SHORT = ("one rank", "a rank without boxes")  # the latter is resumed

# Of round-off, of how a solve went, or small differences of large numbers.
UNEQUAL = ("iterations", "residual", "seconds", "imbalance", "continuity", "relative", "dissipation", "growth", "advection", "scheme", "steps",
           "speciations", "divergence", "over_inflow", "error", "cfl", "charge", "kept", "solved", "reduction")


def numbers(value, path=""):
    """All numbers of a part of a summary by the keys that lead to them."""
    if isinstance(value, dict):
        parts = [numbers(one, f"{path}/{key}") for key, one in value.items() if not any(word in key for word in UNEQUAL)]
    elif isinstance(value, list):
        parts = [numbers(one, path) for one in value]
    else:
        path = re.sub(r"_\d+(_[xyz])?$|_[xyz]$", "", path)  # of vectors some components are round-off
        return {path: [value]} if isinstance(value, (int, float)) and not isinstance(value, bool) else {}
    merged = {}
    for part in parts:
        for key, found in part.items():
            merged.setdefault(key, []).extend(found)
    return merged


def far_apart(a, b):
    """Keys whose numbers differ by more than SAME of the largest of them."""
    found = []
    for path in sorted({*a, *b}):
        x, y = a.get(path, []), b.get(path, [])
        if len(x) != len(y):
            found.append(f"{path}: {len(x)} numbers and {len(y)}")
        elif any(abs(p - q) > SAME * max(map(abs, [*x, *y])) for p, q in zip(x, y)):
            worst = max(zip(x, y), key=lambda pq: abs(pq[0] - pq[1]))
            found.append(f"{path}: {worst[0]} and {worst[1]} of at most {max(map(abs, x))}")
    return found


class Cell:
    """A job on a number of ranks: a run, one that is killed, and the same resumed."""

    def __init__(self, karst, folder, preload, job, ranks):
        self.karst, self.folder, self.preload, self.job = karst, folder, preload, job
        self.ranks, self.box = RANKS[ranks]
        self.deck, self.answer = JOBS[job]
        folder.mkdir()
        (folder / "deck.toml").write_text(self.deck)

    def run(self, out, *more, **variables):
        return self.karst.run(["run", "deck.toml", "--out", out, f"grid.box={self.box}", *more], self.folder, self.ranks, variables=variables)

    def problems(self, resumes):
        began = time.time()
        fresh = self.run("fresh")
        if fresh.status != 0 or not resumes:
            return [] if fresh.status == 0 else [f"afresh: {fresh}"]
        # In time where the second state is to come, steady runs when all is solved and their results are to be moved to their place.
        marches = "[checkpoint]" in self.deck
        states = 3 if self.job == "a flow in time that carries" else 2  # of both, and one to come
        killed = self.run("again", LD_PRELOAD=self.preload, KILL_AT=str(states) if marches else "1",
                          KILL_INTO="_checkpoint.h5" if marches else "karst-unfinished/summary.json")
        if killed.status == 0 or not (self.folder / "again" / "karst-unfinished").exists():
            return [f"a run that is to be killed: {killed}"]
        resumed = self.run("again", "--resume")
        if resumed.status != 0:
            return [f"resumed: {resumed}"]
        found = [] if not marches or "continues after step" in resumed.out else ["it begins at 0"]
        found += differences(clean(self.summary("fresh")), clean(self.summary("again")))[:5]
        names = [sorted(p.name for p in (self.folder / out).iterdir()) for out in ("fresh", "again")]
        found += [f"files {names[0]}, {names[1]} resumed"] if names[0] != names[1] else []
        found += [f"another {name}" for name in HISTORIES if name in names[0] and self.bytes_of("fresh", name) != self.bytes_of("again", name)]
        found += [f"another {name}" for name in names[0] if name.endswith((".vti", ".vtp", ".series")) and
                  self.bytes_of("fresh", name) != self.bytes_of("again", name)]
        plots = [plotfiles(self.folder / out, began) for out in ("fresh", "again")]
        found += [f"another {name}" for name in plots[0] if plots[0][name] != plots[1].get(name)]
        return found

    def bytes_of(self, out, name):
        return (self.folder / out / name).read_bytes()

    def summary(self, out):
        return json.loads(self.bytes_of(out, "summary.json"))

    def result(self):
        """Names of files, and the numbers that the job is asked for."""
        files = sorted(p.name for p in (self.folder / "fresh").iterdir() if ".part" not in p.name)
        return files, numbers(self.summary("fresh").get(self.answer, {}), self.answer)


def problems_of_job(karst, folder, preload, job, full):
    """By number of ranks."""
    folder.mkdir()
    found, first = {}, None
    for ranks in RANKS if full else IN_SHORT if job in SHORT else IN_SHORT[-1:]:
        cell = Cell(karst, folder / ranks.replace(" ", "_"), preload, job, ranks)
        found[ranks] = cell.problems(resumes=full or (job in SHORT and ranks == IN_SHORT[-1]))
        if found[ranks]:
            continue
        result = cell.result()
        first = first or result
        if result[0] != first[0]:
            found[ranks].append(f"files {result[0]} in place of {first[0]}")
        found[ranks] += far_apart(first[1], result[1])[:5]
    return found


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    arguments.add_argument("--full", action="store_true", help="all jobs on all ranks, killed and resumed")
    arguments.add_argument("--kept", help="folder for all that is written (default: a temporary one)")
    arguments.add_argument("jobs", nargs="*", help=f"{', '.join(JOBS)} (default: all)")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    failed = cells = 0
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(options.kept or place)
        if options.kept:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        with ThreadPoolExecutor(2) as pool:
            jobs = options.jobs or list(JOBS)
            parts = pool.map(lambda job: problems_of_job(karst, folder / job.replace(" ", "_"), options.preload, job, options.full), jobs)
            for job, found in zip(jobs, parts):
                cells += len(found)
                for ranks, problems in found.items():
                    failed += 1 if problems else 0
                    print("FAILED" if problems else "passed", f"{job}, {ranks}:", "; ".join(problems), flush=True)
    print(f"{failed} of {cells} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are killed and resumed with changed input: the old checkpoint is not used where results depend on the change.

    changed_inputs.py --program KARST --mpiexec MPIEXEC --preload libkill_at.so [CHANGE ...]

The content of a file counts, not its name: a file that was moved, fields of plotfiles and the title do not matter.
"""
import json
import shutil
import struct
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from outputs import CLAY, DYE, IN_TIME, STEPS, STOKES, VOLUMES, WATERS, rock
from support import Karst, parser, sphere_image

CELLS = (12, 8, 8)
CARRIED = rock() + STOKES + "[transport]\npeclet = 5\n" + VOLUMES + STEPS
FLOW = rock() + IN_TIME.format("unsteady-stokes") + STEPS
PROBE = '[[output.probe]]\nname = "{}"\nposition = [0.5e-4, 4e-4, 0.5e-4]\n'
SLICE = '[output]\nplot = ["concentration"]\n[[output.slice]]\naxis = "{}"\nevery = 6\n'
RATES = WATERS.format("in-turn").replace('["0.89 H+ 1", "5e-4 CO2 1", "6.6e-7"]', '["database"]')
LABELS = {"pore": 0, "quartz": 1, "calcite": 2}
IMAGE = ('[geometry]\nimage = "image.raw"\nminerals = ["quartz", "calcite"]\n[geometry.import]\nsize = [12, 12, 12]\ntype = "uint8"\nvoxel = 1e-4\nlabels = "labels.json"\n'
         '[grid]\nperiodic = [false, true, true]\n')


def values(factor=1.0):
    """One double per cell, x fastest."""
    n = CELLS[0] * CELLS[1] * CELLS[2]
    return struct.pack(f"<{n}d", *(factor * i / n for i in range(n)))


def npy(factor=1.0):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {CELLS[::-1]}, }}".encode()
    head += b" " * (117 - len(head)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + values(factor)


def two_halves():
    """Labels of a ball: quartz where x is small, calcite beside it."""
    return bytes(1 + (i % 12 >= 6) if v else 0 for i, v in enumerate(sphere_image(12, 4.5)))


def labels(folder, swapped=False):
    names = dict(LABELS, quartz=2, calcite=1) if swapped else LABELS
    (folder / "labels.json").write_text(json.dumps({"labels": names}))


def start_from(folder, karst, drop):
    """A plotfile of a flow."""
    (folder / "before.toml").write_text(rock() + STOKES + f'pressure_drop = {drop}\n[output]\nplot = ["velocity", "pressure"]\n')
    done = karst.run(["run", "before.toml", "--out", "before", "--overwrite"], folder)
    if done.status != 0:
        raise RuntimeError(f"the flow to begin from: {done}")
    shutil.copy(folder / "before" / "plot.vtkhdf", folder / "start.vtkhdf")


def append(name, text):
    def change(folder, _):
        (folder / name).write_bytes((folder / name).read_bytes() + text.encode())
    return change


def write(name, content):
    def change(folder, _):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return change


def copy_of(karst_databases, name):
    return lambda folder, _: shutil.copy(karst_databases / name, folder / name)


def moved(name, to):
    """The same file under another name, as the deck says then."""
    def change(folder, _):
        (folder / name).rename(folder / to)
        text = (folder / "deck.toml").read_text()
        (folder / "deck.toml").write_text(text.replace(name, to))
    return change


def replaced(old, new):
    def change(folder, _):
        text = (folder / "deck.toml").read_text()
        if old not in text:
            raise RuntimeError(f"{old} is not in the deck")
        (folder / "deck.toml").write_text(text.replace(old, new))
    return change


def changes(databases):
    """Name: deck, what makes its files, what changes, what is said of it; None: the run goes on."""
    table = DYE.replace('inlet = "t < 20 ? 1 : 0"', 'inlet_table = "table.csv"')
    first = DYE.replace("decay", 'initial_file = "{}"\ndecay')
    ball = '[[transport.region]]\nshape = "spheres"\ncolumns = "x y z r"\nfile = "balls.txt"\ninitial = "0.5"\n'
    nothing = lambda *_: None
    return {
        "inlet table": (CARRIED + table, write("table.csv", "0 0\n1 1\n"), write("table.csv", "0 0\n1 2\n"), "inlet_table"),
        "drive table": (FLOW.replace('drive_factor = "t < 0.004 ? 1 : 0.3"', 'drive_table = "table.csv"'), write("table.csv", "0 1\n1 1\n"),
                        write("table.csv", "0 1\n1 2\n"), "drive_table"),
        "initial array": (CARRIED + first.format("c.npy"), write("c.npy", npy()), write("c.npy", npy(0.5)), "initial"),
        "initial array of two files": (CARRIED + first.format("c.mhd"), lambda folder, _: [
            write("c.mhd", f"ObjectType = Image\nNDims = 3\nDimSize = {' '.join(map(str, CELLS))}\nElementType = MET_DOUBLE\n"
                           "ElementByteOrderMSB = False\nElementDataFile = c.bin\n")(folder, _), write("c.bin", values())(folder, _)],
                                       write("c.bin", values(0.5)), "initial values of dye"),
        "spheres of a region": (CARRIED + DYE + ball, write("balls.txt", "2e-4 4e-4 0 1e-4\n"), write("balls.txt", "2e-4 4e-4 0 1.5e-4\n"), "file"),
        "plotfile of the start": (FLOW.replace("[time]", 'start_file = "start.vtkhdf"\n[time]'), lambda folder, karst: start_from(folder, karst, 1),
                                  lambda folder, karst: start_from(folder, karst, 2), "start_file"),
        "database": (CARRIED + WATERS.format("in-turn").replace("[chemistry]", '[chemistry]\ndatabase = "phreeqc.dat"'),
                     copy_of(databases, "phreeqc.dat"), append("phreeqc.dat", "# another\n"), "database"),
        "additions": (CARRIED + WATERS.format("in-turn").replace("[chemistry]", '[chemistry]\nadditions = ["more.dat"]'),
                      write("more.dat", "PHASES\nCalcite\n    CaCO3 = CO3-2 + Ca+2\n    log_k -8.48\n"),
                      write("more.dat", "PHASES\nCalcite\n    CaCO3 = CO3-2 + Ca+2\n    log_k -8.40\n"), "database"),
        "rates": (CARRIED + RATES.replace("[chemistry]", '[chemistry]\nrates = "palandri-kharaka.dat"'),
                  copy_of(databases, "palandri-kharaka.dat"), lambda folder, _: write("palandri-kharaka.dat", (
                      folder / "palandri-kharaka.dat").read_text().replace("-5.81    23.5", "-5.61    23.5"))(folder, _), "rate of Calcite"),
        "amount of an exchanger": (CARRIED + WATERS.format("in-turn") + CLAY, nothing, replaced("amount = 1e-3", "amount = 2e-3"), "amount"),
        "minerals of solids": (CARRIED + DYE, nothing, lambda folder, _: [replaced("calcite", "clay")(folder, _), replaced("quartz", "calcite")(folder, _),
                                                                         replaced("clay", "quartz")(folder, _)], "minerals"),
        "labels of an image": (IMAGE + STOKES + "[transport]\npeclet = 5\n" + VOLUMES + STEPS + DYE,
                               lambda folder, _: [labels(folder), write("image.raw", two_halves())(folder, _)],
                               lambda folder, _: labels(folder, True), "geometry"),
        "a probe more": (CARRIED + DYE + PROBE.format("p"), nothing, append("deck.toml", PROBE.format("q")), "output.probe"),
        "no probe": (CARRIED + DYE + PROBE.format("p"), nothing, replaced(PROBE.format("p"), ""), "output.probe"),
        "a probe of a flow": (FLOW, nothing, append("deck.toml", PROBE.format("q")), "output.probe"),
        "another slice": (CARRIED + DYE + SLICE.format("z"), nothing, replaced('axis = "z"', 'axis = "x"'), "output.slice"),
        "a slice more often": (CARRIED + DYE + SLICE.format("z"), nothing, replaced("every = 6", "every = 3"), "output.slice"),
        "a component more": (CARRIED + DYE, nothing, append("deck.toml", DYE.replace("dye", "salt")), "transport.component"),
        "a table that was moved": (CARRIED + table, write("table.csv", "0 0\n1 1\n"), moved("table.csv", "other.csv"), None),
        "other fields, another title": (CARRIED + DYE + SLICE.format("z"), nothing, lambda folder, _: [
            replaced('["concentration"]', '["velocity", "concentration"]')(folder, _),
            write("deck.toml", 'title = "another"\n' + (folder / "deck.toml").read_text())(folder, _)], None),
    }


def problems_of(karst, folder, preload, change):
    deck, make, alter, said = change
    folder.mkdir()
    (folder / "deck.toml").write_text(deck)
    make(folder, karst)
    command = ["run", "deck.toml", "--out", "out"]
    killed = karst.run(command, folder, variables={"LD_PRELOAD": preload, "KILL_AT": "2", "KILL_INTO": "_checkpoint.h5"})
    if not (folder / "out" / "karst-unfinished" / "solved").exists():
        return [f"a run that is to be killed: {killed}"]
    alter(folder, karst)
    resumed = karst.run([*command, "--resume"], folder)
    if resumed.status != 0:
        return [f"resumed: {resumed}"]
    goes_on = "continues after step" in resumed.out
    found = []
    if goes_on != (said is None):
        found.append(f"goes on: {goes_on}; {resumed}")
    line = next((line for line in resumed.out.splitlines() if ", checkpoint" in line and "is not used, it belongs to other input" in line), "")
    if said is not None and said not in line:
        found.append(f"\"{said}\" is not in \"{line}\"")
    for history in ("transport.csv", "history.csv"):
        path = folder / "out" / history
        columns = {line.count(",") for line in path.read_text().splitlines()} if path.exists() else {0}
        if len(columns) != 1:
            found.append(f"{history} with lines of {sorted(columns)} commas")
    return found


def not_together(karst, folder, preload):
    """A flow goes on, and what it carries is given otherwise, or was not there before: refused, and the flow can go on alone."""
    folder.mkdir()
    alone = rock() + IN_TIME.format("navier-stokes") + STEPS
    (folder / "alone.toml").write_text(alone)
    (folder / "deck.toml").write_text(alone + "[transport]\n" + DYE)
    killed = {"LD_PRELOAD": preload, "KILL_AT": "2", "KILL_INTO": "_checkpoint.h5"}
    found = []
    for deck, more, said in (("deck", ["transport.diffusivity=2e-9"], "the transport of its checkpoint belongs to other input"),
                             ("alone", [], "its checkpoint holds no transport")):
        karst.run(["run", f"{deck}.toml", "--out", deck], folder, variables=killed)
        resumed = karst.run(["run", "deck.toml", "--out", deck, "--resume", *more], folder)
        if resumed.status != 1 or said not in resumed.err:
            found.append(str(resumed))
        again = karst.run(["run", "alone.toml", "--out", deck, "--resume"], folder)
        if again.status != 0 or "continues after step" not in again.out:
            found.append(str(again))
    return found


def as_undisturbed(karst, folder, preload, deck, kill_at):
    """Nothing changes: a run that is killed while it keeps the state of that number, and goes on, leaves the files and
    the histories of one that was not."""
    folder.mkdir()
    (folder / "deck.toml").write_text(deck)
    command = ["run", "deck.toml", "checkpoint.every_steps=1", "--out"]
    whole = karst.run([*command, "whole"], folder)
    killed = karst.run([*command, "out"], folder, variables={"LD_PRELOAD": preload, "KILL_AT": str(kill_at), "KILL_INTO": "_checkpoint.h5"})
    resumed = karst.run([*command, "out", "--resume"], folder)
    if whole.status != 0 or killed.status == 0 or "continues after step" not in resumed.out:
        return [str(result) for result in (whole, killed, resumed)]
    names = [sorted(p.name for p in (folder / place).iterdir()) for place in ("whole", "out")]
    found = [] if names[0] == names[1] else [f"files {names[1]} in place of {names[0]}"]
    return found + [f"another {name}" for name in ("transport.csv", "history.csv", "profiles.csv")
                    if name in names[0] and (folder / "whole" / name).read_bytes() != (folder / "out" / name).read_bytes()]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    arguments.add_argument("--databases", required=True, type=Path)
    arguments.add_argument("changes", nargs="*", help="(default: all)")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place, ThreadPoolExecutor(2) as pool:
        folder = Path(place)
        every = {name: change for name, change in changes(options.databases).items() if not options.changes or name in options.changes}
        jobs = {name: pool.submit(problems_of, karst, folder / name.replace(" ", "_"), options.preload, change) for name, change in every.items()}
        jobs["a flow goes on alone"] = pool.submit(not_together, karst, folder / "together", options.preload)
        # The states of both are kept in turn, those of the first step are two; the one slice comes at 24 s, the state of step 24 is of 29 s.
        jobs["first steps of what a flow carries"] = pool.submit(
            as_undisturbed, karst, folder / "first", options.preload, rock() + IN_TIME.format("unsteady-stokes") + "[transport]\n" + STEPS + DYE, 3)
        jobs["behind the last slice"] = pool.submit(
            as_undisturbed, karst, folder / "slices", options.preload, CARRIED + DYE + SLICE.format("z").replace("every = 6", "every = 24"), 25)
        for name, job in jobs.items():
            found = job.result()
            failed += 1 if found else 0
            print("FAILED" if found else "passed", name, "; ".join(found), flush=True)
    print(f"{failed} of {len(jobs)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

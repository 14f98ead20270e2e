#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles in parts (output.files) have the same content as a single file: for HDF5, the Python package, `karst report` and
flow.start_file, also after the folder was moved. A missing part is an error, not zeros. A run with fewer parts removes those of the
previous one.

    parts.py --program KARST --mpiexec MPIEXEC --package FOLDER [--full]
"""
import json
import sys

import h5py
import numpy as np
from support import PUSHED, Checks, parser, program_and_folder, sphere_deck

FLOW = sphere_deck(16, radius=0.38) + """[flow]
model = "stokes"
drive = "velocity"
velocity = 1e-3
axes = ["x"]
estimate_error = false
[fluid]
viscosity = 1e-3
[output]
plot = ["velocity", "pressure", "fraction"]
"""
IN_TIME = sphere_deck(12, radius=0.38) + PUSHED + """[time]
end = 0.02
cfl = 0.5
dt = 1e-3
output = 0.008
[output]
plot = ["velocity"]
"""


def datasets(path):
    """All values of a plotfile by the name of the dataset, without the ranks of boxes."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return {name: values for name, values in found.items() if not name.endswith("Processors")}


def differences(path, wanted):
    here = datasets(path)
    if here.keys() != wanted.keys():
        return [f"{path.name}: datasets {sorted(here.keys() ^ wanted.keys())}"]
    return [f"{path.name}: other values of {name}" for name, values in wanted.items() if not np.array_equal(here[name], values)]


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def same_values(karst, folder, full):
    """One file and several, on 2 and 4 ranks; listed; a page of them; none left by a run with fewer."""
    found, before = [], 0
    cases = ((2, 2, 2), (2, 3, 2), (4, 2, 2), (4, 3, 3), (1, 2, 0))
    for ranks, files, parts in cases if full else (cases[1], cases[3], cases[4]):
        if ranks != before:
            one = karst.run(["run", "deck.toml", "--out", "one", "--overwrite"], folder, ranks)
            before = ranks
        several = karst.run(["run", "deck.toml", "--out", "several", "--overwrite", f"output.files={files}"], folder, ranks)
        if one.status or several.status:
            return [f"{ranks} ranks: {one} {several}"]
        found += differences(folder / "several/plot.vtkhdf", datasets(folder / "one/plot.vtkhdf"))
        wanted = sorted([*names(folder / "one"), *(f"plot.vtkhdf.part{k + 1}" for k in range(parts))])
        summary = json.loads((folder / "several/summary.json").read_text())
        if names(folder / "several") != wanted or summary["files"] != wanted or summary["plotfile"]["parts"] != max(parts, 1):
            found.append(f"{files} files on {ranks} ranks: {names(folder / 'several')}, listed {summary['files']}")
        if ("each rank writes at most one" in several.out) != (files > ranks):
            found.append(f"{files} files on {ranks} ranks: {several}")
        page = (folder / "several/report.html").read_bytes()
        again = karst.run(["report", "several"], folder)
        if again.status or (folder / "several/report.html").read_bytes() != page:
            found.append(f"{files} files on {ranks} ranks: another page: {again}")
    return found


def moved_and_missing(karst, folder, karst_package):
    """In another folder it is the same plotfile; without a part, none."""
    found = []
    for name, files in (("one", 1), ("several", 2)):
        karst.run(["run", "deck.toml", "--out", name, "--overwrite", f"output.files={files}"], folder, 2)
    (folder / "else").mkdir()
    moved = folder / "else/where"
    (folder / "several").rename(moved)
    found += differences(moved / "plot.vtkhdf", datasets(folder / "one/plot.vtkhdf"))
    with karst_package.Plotfile(moved / "plot.vtkhdf") as here, karst_package.Plotfile(folder / "one/plot.vtkhdf") as one:
        if not np.array_equal(here.uniform("velocity"), one.uniform("velocity"), equal_nan=True):
            found.append("other values through the package")
    starts = []
    for place in (folder / "one", moved):
        start = karst.run(["run", "time.toml", "--out", "started", "--overwrite", f"flow.start_file={place}/plot.vtkhdf"], folder, 2)
        starts.append([start.status, (folder / "started/history.csv").read_text() if start.status == 0 else str(start)])
    if starts[0] != starts[1] or starts[0][0]:
        found.append(f"starts differ: {starts}")
    there = (folder / "one/plot.vtkhdf").read_bytes()
    onto = karst.run(["run", "time.toml", "--out", "one", "--overwrite", f"flow.start_file={folder}/one/plot.vtkhdf"], folder)
    if onto.status != 1 or "name of one of its results" not in onto.err or (folder / "one/plot.vtkhdf").read_bytes() != there:
        found.append(f"a run replaces the file that it begins with: {onto}")
    (moved / "plot.vtkhdf.part2").unlink()
    missing = "plot.vtkhdf.part2 is missing"
    for command in (["report", "else/where"], ["run", "time.toml", "--out", "x", f"flow.start_file={moved}/plot.vtkhdf"]):
        result = karst.run(command, folder)
        if result.status != 1 or missing not in result.err:
            found.append(f"{missing}: {result}")
    try:
        karst_package.Plotfile(moved / "plot.vtkhdf")
        found.append("the package reads a plotfile without a part")
    except karst_package.KarstError as error:
        found += [] if missing in str(error) else [f"the package says: {error}"]
    return found


def in_time(karst, folder):
    """Outputs have parts, too, and go with them."""
    run = ["run", "time.toml", "--out", "time", "--overwrite"]
    first = karst.run([*run, "output.files=2"], folder, 2)
    outputs = ["output_0001.vtkhdf", "output_0002.vtkhdf", "plot.vtkhdf"]
    wanted = sorted([*outputs, *(f"{name}.part{k}" for name in outputs for k in (1, 2))])
    here = [name for name in names(folder / "time") if ".vtkhdf" in name and not name.endswith(".series")]
    if first.status or here != wanted:
        return [f"outputs {here}: {first}"]
    values = {name: datasets(folder / "time" / name) for name in outputs}
    for more, left in (([], outputs), (["time.output=0.015"], ["output_0001.vtkhdf", "plot.vtkhdf"])):
        one = karst.run([*run, *more], folder, 2)
        here = [name for name in names(folder / "time") if ".vtkhdf" in name and not name.endswith(".series")]
        if one.status or here != left:
            return [f"a run with one file {more} leaves {here}: {one}"]
        if not more:
            found = [problem for name in outputs for problem in differences(folder / "time" / name, values[name])]
    return found


def ended_early(karst, folder, karst_package):
    """What a run leaves that ends early, and what it takes up again, are whole plotfiles; all files are listed."""
    found = []
    command = ["run", "time.toml", "--out", "early", "output.files=2", "time.end=1e3", "checkpoint.every_steps=5", "time.output=0.003"]
    for more in ("--overwrite", "--resume"):
        for limit in (1.5, 10, 60):  # the first one on a machine that does nothing else
            result = karst.run([*command, more, "--time-limit", limit], folder, 2)
            here = [name for name in names(folder / "early") if name not in ("karst-unfinished", "karst.lock")]
            plots = [name for name in here if name.endswith(".vtkhdf")]
            if len(plots) > 1:
                break
        parts = sorted(f"{name}.part{k}" for name in plots for k in (1, 2))
        if result.status == 0 or len(plots) < 2 or [name for name in here if ".part" in name] != parts:
            found.append(f"ends early with {here}: {result}")
        if json.loads((folder / "early/summary.json").read_text())["files"] != here:
            found.append(f"files {here} are not those of the summary")
        for name in plots:
            try:
                karst_package.Plotfile(folder / "early" / name).close()
            except karst_package.KarstError as error:
                found.append(str(error))
    return found if "continues after step" in result.out else [*found, f"does not go on: {result}"]


def bad_values(karst, folder):
    found = []
    for value in ("0", "-1", "1.5", '"two"', "true"):
        result = karst.run(["run", "deck.toml", "--out", "bad", f"output.files={value}"], folder)
        if result.status != 1 or "output.files" not in result.err or (folder / "bad").exists():
            found.append(f"output.files={value}: {result}")
    return found


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--package", required=True)
    arguments.add_argument("--full", action="store_true", help="more numbers of ranks and files")
    options = arguments.parse_args()
    sys.path.insert(0, options.package)
    import karst as karst_package
    told = Checks()
    with program_and_folder(options) as (karst, folder):
        (folder / "deck.toml").write_text(FLOW)
        (folder / "time.toml").write_text(IN_TIME)
        for name, check in (("same values", lambda: same_values(karst, folder, options.full)),
                            ("moved and missing", lambda: moved_and_missing(karst, folder, karst_package)),
                            ("in time", lambda: in_time(karst, folder)),
                            ("ended early", lambda: ended_early(karst, folder, karst_package)), ("bad values", lambda: bad_values(karst, folder))):
            problems = check()
            told.problems(name, problems)
    return told.status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst study`: every combination is run, tables and report contain the results of the runs, completed cases are not repeated, an
interrupted study continues, a failed case does not affect the others, parts of an image.

    study.py --program KARST --mpiexec MPIEXEC
"""
import csv
import json
import os
import signal
import subprocess
import sys
import time

from support import Checks, parser, program_and_folder, sphere_deck, sphere_image

DECK = sphere_deck(16, radius=0.38) + '[diffusion]\naxes = ["x"]\n[output]\nplot = []\n'
STUDY = """title = "Balls"
deck = "ball.toml"
columns = ["porosity", "formation_factor[0]"]
[[vary]]
key = "geometry.solid[0].radius"
name = "radius"
values = ["0.30 mm", 0.38e-3]
[[vary]]
key = "grid.periodic"
values = [[true, true, true], [false, true, true]]
"""
COPIED = sphere_deck(16, radius=0.41) + 'periodic = [true, true, true]\n' """[[geometry.solid]]
shape = "sphere"
center = [0.1e-3, 0.2e-3, 0.15e-3]
radius = 0.2e-3
periodic = true
[flow]
model = "stokes"
drive = "pressure-gradient"
axes = ["x"]
tolerance = 1e-10
estimate_error = false
[output]
plot = []
"""
PARTS = """deck = "part.toml"
[subvolumes]
sizes = [16, 24]
places = 3
"""
PART = """[geometry]
image = "rock.raw"
[geometry.import]
size = [24, 24, 24]
type = "uint8"
voxel = 1e-6
pore = 0
[diffusion]
axes = ["z"]
[output]
plot = []
"""


def rows(folder):
    with open(folder / "study.csv", newline="") as file:
        return list(csv.DictReader(file))


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true", help="copies of a sample on eight ranks, too")
    options = arguments.parse_args()
    ranks_of_copies = (1, 2, 4, 8) if options.full else (1, 2, 4)
    check = Checks()
    with program_and_folder(options) as (karst, folder):
        (folder / "decks").mkdir()
        (folder / "decks" / "ball.toml").write_text(DECK)
        (folder / "decks" / "balls.toml").write_text(STUDY)
        study = ["study", "decks/balls.toml", "--out", "out", "-j", "1"]
        listed = karst.run([*study, "--list"], folder)
        check("list", listed.status == 0 and listed.out.count("case_00") == 4 and not (folder / "out").exists(), listed)

        # Interrupted, then to the end: what the first had is not run again.
        run = subprocess.Popen(karst.command(study), cwd=folder, env=karst.environment(1), stdout=subprocess.PIPE, text=True)
        while run.poll() is None and not (folder / "out" / "case_001" / "summary.json").exists():
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        said = run.communicate()[0]
        early = rows(folder / "out")
        check("interrupted", run.returncode == 143 and early[0]["status"] == "completed" and early[-1]["status"] == "not run", f"{run.returncode} {said}")
        whole = karst.run(study, folder)
        found = rows(folder / "out")
        check("continues", whole.status == 0 and "case_001 of 4, radius 0.30 mm, grid.periodic [true, true, true]: done before" in whole.out
              and [r["status"] for r in found] == 4 * ["completed"], whole)
        again = karst.run(study, folder)
        check("all there", again.status == 0 and again.out.count("done before") == 4, again)

        alone = karst.run(["run", "decks/ball.toml", "--out", "alone", "-j", "1", "geometry.solid[0].radius=0.38e-3", "grid.periodic=[true,true,true]"], folder)
        summary = json.loads((folder / "alone" / "summary.json").read_text())
        check("figures are those of the run", alone.status == 0 and float(found[2]["porosity"]) == summary["porosity"]
              and float(found[2]["formation_factor[0]"]) == summary["formation_factor"][0] and found[2]["radius"] == "0.00038", found[2])
        page, table = (folder / "out" / "study.html").read_text(), json.loads((folder / "out" / "study.json").read_text())
        check("page and JSON", page.count("<h2>") == 3 and "case_004/report.html" in page and len(table["cases"]) == 4
              and table["cases"][3]["overrides"] == ["geometry.solid[0].radius=0.00038", "grid.periodic=[false, true, true]"], table)

        # A case that fails while it solves.
        broken = karst.run(["study", "decks/balls.toml", "--out", "broken", "-j", "1", "diffusion.max_iterations=1"], folder)
        found = rows(folder / "broken")
        check("failed", broken.status == 1 and "4 of 4 cases failed" in broken.err and found[0]["status"] == "failed"
              and "did not converge" in (folder / "broken" / "case_001.txt").read_text(), broken)

        (folder / "rock.raw").write_bytes(sphere_image(24, 9))
        (folder / "part.toml").write_text(PART)
        (folder / "parts.toml").write_text(PARTS)
        parts = karst.run(["study", "parts.toml", "--out", "parts", "--ranks", "2", "--parallel", "2"], folder)
        found = rows(folder / "parts")
        check("parts of an image, on ranks", parts.status == 0 and [(r["size [voxels]"], r["place"]) for r in found]
              == [("16", "1"), ("16", "2"), ("16", "3"), ("24", "1")] and len({tuple(c["overrides"]) for c in json.loads((folder / "parts" / "study.json").read_text())["cases"]}) == 4, parts)
        check("what parts share is told", "3 cubes of 16 voxels do not fit into 24 x 24 x 24 without overlap (there is room for 1)" in parts.err + parts.out
              and "do not fit into" in (folder / "parts" / "study.html").read_text(), parts)

        # Ranks and threads: the same figures, what ran is what was asked for, times compared with one core.
        (folder / "scaling.toml").write_text('deck = "decks/ball.toml"\ncolumns = ["formation_factor[0]", "ranks", "threads"]\n'
                                             '[scaling]\nranks = [1, 2]\nthreads = [1, 2]\nof = "seconds.solve"\n')
        scaling = karst.run(["study", "scaling.toml", "--out", "scaling"], folder)
        with open(folder / "scaling" / "study.csv", newline="") as file:
            head, *found = list(csv.reader(file))
        of = {name: head.index(name) for name in ("formation_factor[0]", "seconds.solve", "speed-up", "efficiency")}
        check("ranks and threads", scaling.status == 0 and head[2:4] == ["ranks", "threads"] and len(found) == 4
              and all(row[2:4] == row[5:7] for row in found), found)
        numbers = [{name: float(row[i]) for name, i in of.items()} for row in found]
        check("one answer", all(abs(n["formation_factor[0]"] / numbers[0]["formation_factor[0]"] - 1) < 1e-6 for n in numbers), numbers)
        check("speed-up and efficiency", all(
            abs(n["speed-up"] * n["seconds.solve"] / numbers[0]["seconds.solve"] - 1) < 1e-9
            and abs(n["efficiency"] * cores / n["speed-up"] - 1) < 1e-9 for n, cores in zip(numbers, (1, 2, 2, 4))), numbers)

        # Copies of the sample side by side have the results of one.
        (folder / "weak.toml").write_text('deck = "copied.toml"\ncolumns = ["permeability_m2[0][0]", "porosity", "solves[0].iterations", "cells.fluid", '
                                          '"communication.messages.most", "communication.bytes.most", "communication.collectives.most", '
                                          '"communication.exchange_messages.most", "communication.exchange_cells.most"]\n'
                                          f'[scaling]\nranks = {list(ranks_of_copies)}\nweak = true\n')
        (folder / "copied.toml").write_text(COPIED)
        weak = karst.run(["study", "weak.toml", "--out", "weak", "-j", "1"], folder)
        found = rows(folder / "weak")
        check("copies", weak.status == 0 and [r["copies"] for r in found] == ["1x1x1", "2x1x1", "2x2x1", "2x2x2"][:len(ranks_of_copies)], weak)
        first = found[0]
        check("one answer from all copies", all(
            abs(float(r[name]) / float(first[name]) - 1) < 1e-10 for r in found for name in ("permeability_m2[0][0]", "porosity"))
            and all(abs(int(r["solves[0].iterations"]) - int(first["solves[0].iterations"])) <= 1 for r in found), found)
        # Work of a rank is the same, and so is what it sends: rounds of messages (at most 1 / 1.2 of what edges of boxes may add), their bytes, calls
        # for all ranks.
        check("cells of a rank", all(int(r["cells.fluid"]) == ranks * int(first["cells.fluid"]) for r, ranks in zip(found, ranks_of_copies)), found)
        sent = [{name: float(value) for name, value in r.items() if name.startswith("communication")} for r in found]
        check("one rank sends no messages", sent[0]["communication.messages.most"] == 0 and sent[0]["communication.collectives.most"] == 0, sent[0])
        rounds = [s["communication.messages.most"] / s["communication.exchange_messages.most"] for s in sent[1:]]
        carried = [s["communication.bytes.most"] / s["communication.exchange_cells.most"] for s in sent[1:]]
        calls = [s["communication.collectives.most"] for s in sent[1:]]
        check("messages, bytes and calls of a rank do not grow", all(max(of) <= 1.2 * min(of) for of in (rounds, carried, calls)), (rounds, carried, calls))
        check("efficiency of copies", all(abs(float(r["efficiency"]) * float(r["seconds.total"]) / float(first["seconds.total"]) - 1) < 1e-9
                                          for r in found), found)

        # The environment of the runs, and what they are bound to; both count when a case is done before.
        (folder / "environment.toml").write_text('deck = "decks/ball.toml"\ncolumns = ["threads", "ranks"]\n[[vary]]\nenvironment = "OMP_NUM_THREADS"\n'
                                                 'values = [1, 2]\n[scaling]\nranks = [2]\nbind = ["none"]\n')
        listed = karst.run(["study", "environment.toml", "--list"], folder)
        check("list with environment", listed.status == 0 and "OMP_NUM_THREADS=2  2 ranks  bound to none" in listed.out, listed)
        varied = karst.run(["study", "environment.toml", "--out", "environment"], folder)
        found = rows(folder / "environment")
        check("environment", varied.status == 0 and [(r["OMP_NUM_THREADS"], r["threads"], r["bound to"]) for r in found]
              == [("1", "1", "none"), ("2", "2", "none")], (varied, found))
        again = karst.run(["study", "environment.toml", "--out", "environment"], folder)
        (folder / "environment.toml").write_text((folder / "environment.toml").read_text().replace("[1, 2]", "[1, 1]"))
        refused = karst.run(["study", "environment.toml", "--out", "environment"], folder)
        check("results of another study stay", refused.status == 1 and "environment/case_002: contains results of a run with another deck, settings" in refused.err
              and "--overwrite" in refused.err and "done" not in refused.out, refused)
        (folder / "environment.toml").write_text((folder / "environment.toml").read_text().replace("[1, 1]", "[1]"))
        fewer = karst.run(["study", "environment.toml", "--out", "environment"], folder)
        check("cases that are there stay", fewer.status == 0 and fewer.out.count("done before") == 1, fewer)
        (folder / "environment.toml").write_text((folder / "environment.toml").read_text().replace("values = [1]", "values = [1, 1]"))
        other = karst.run(["study", "environment.toml", "--out", "environment", "--overwrite"], folder)
        check("with other settings cases are run again", again.out.count("done before") == 2 and other.out.count("done") == 2, (again, other))
        none = karst.run(["study", "environment.toml", "--out", "environment", "--slurm"], folder)
        check("no case is left to hand in", none.status == 0 and "All cases are completed" in none.out and "submit.sh" not in none.out
              and not (folder / "environment" / "submit.sh").exists(), none)

        # Batch scripts for a cluster: run here as SLURM would, by a stand-in for sbatch and srun.
        slurm = karst.run(["study", "weak.toml", "--out", "batch", "-j", "1", "--slurm"], folder)
        check("batch scripts", slurm.status == 0 and "submit.sh" in slurm.out and not (folder / "batch" / "case_001").exists()
              and "--ntasks=4" in (folder / "batch" / "case_003.sbatch").read_text(), slurm)
        tools = folder / "bin"
        tools.mkdir()
        for tool, text in (("sbatch", '#!/bin/bash\necho "sbatch $*"\nbash "${@: -1}"\n'),
                           ("srun", '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\n"$@"\n')):  # on one rank
            (tools / tool).write_text(text)
            (tools / tool).chmod(0o755)
        handed = subprocess.run(["bash", "batch/submit.sh", "--time=5"], cwd=folder, capture_output=True, text=True,
                                env={**karst.environment(1), "PATH": f"{tools}:{os.environ['PATH']}"})
        check("handed in", handed.returncode == 0 and handed.stdout.count("sbatch --time=5 ") == len(ranks_of_copies)
              and json.loads((folder / "batch" / "case_002" / "summary.json").read_text())["status"] == "completed", handed)

        for name, text, words in (
                ("copies along no periodic direction", 'deck = "part.toml"\n[scaling]\nranks = [1, 2]\nweak = true\n', ["scaling.weak", "part.toml"]),
                ("ranks that are no number of them", 'deck = "part.toml"\n[scaling]\nranks = [1, 1.5]\n', ["scaling.ranks", "whole numbers"]),
                ("key and environment", 'deck = "part.toml"\n[[vary]]\nkey = "grid.box"\nenvironment = "A"\nvalues = [8]\n', ["either a key"]),
                ("not the name of a variable", 'deck = "part.toml"\n[[vary]]\nenvironment = "A B"\nvalues = [8]\n', ["'A B'"]),
                ("unknown place to be bound to", 'deck = "part.toml"\n[scaling]\nranks = [1]\nbind = ["cores"]\n', ["scaling.bind", "'cores'"]),
                ("nothing is varied", 'deck = "part.toml"\n', ["nothing is varied"]),
                ("a key twice", 'deck = "part.toml"\n' + 2 * '[[vary]]\nkey = "grid.box"\nvalues = [8]\n', ["'grid.box' is varied twice"]),
                ("no deck", '[[vary]]\nkey = "grid.box"\nvalues = [8]\n', ["deck: missing"]),
                ("a deck that is not there", 'deck = "none.toml"\n[[vary]]\nkey = "grid.box"\nvalues = [8]\n', ["none.toml"]),
                ("mistakes in two cases", 'deck = "part.toml"\n[[vary]]\nkey = "grid.box"\nvalues = [8, 9, "many"]\n',
                 ["case_002", "case_003", "grid.box", "9", "many"]),
                ("a misspelt column", 'columns = ["porosity", "formation_faktor[0]"]\n' + PARTS, ["columns", "formation_faktor", "formation_factor"]),
                ("unknown key", PARTS + "place = 3\n", ["subvolumes.place", "subvolumes.places"]),
                ("parts larger than the image", PARTS.replace("24", "32"), ["subvolumes.sizes", "32", "24 x 24 x 24"]),
                ("no such images", 'deck = "part.toml"\nimages = ["rock_*.tif"]\n', ["images", "rock_*.tif"])):
            (folder / "bad.toml").write_text(text)
            bad = karst.run(["study", "bad.toml", "--out", "bad"], folder)
            check(name, bad.status == 1 and all(w in bad.err for w in words) and not (folder / "bad").exists(), bad)
        beside = karst.run(["study", "scaling.toml", "--out", "bad", "--parallel", "2"], folder)
        check("times of runs beside one another", beside.status == 1 and "--parallel 2" in beside.err, beside)
        ranks = karst.run(["study", "parts.toml", "--out", "bad"], folder, ranks=2)
        check("under mpirun", ranks.status == 1 and "--ranks 2" in ranks.err, ranks)
    return check.status


if __name__ == "__main__":
    sys.exit(main())

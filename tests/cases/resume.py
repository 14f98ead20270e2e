#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs and imports that are interrupted or killed at any moment: no completed solve is lost.

    resume.py --program KARST --mpiexec MPIEXEC --preload libkill_at.so [--moments N] [--seed N] [--short]

Each moment is one run that is stopped by SIGINT, SIGTERM or SIGKILL, on one rank or two, after a random time or (SIGKILL)
at a random renaming or removal of a file; on two ranks the signal is sent to the ranks (as batch systems do) or to mpirun. Then
the older results are unchanged, or the new ones complete, or there are none; `--resume` repeats no completed solve, and gives
bitwise the results of an uninterrupted run. Time stepping continues from the last checkpoint; on other ranks its curves are the
same to the tolerance of the solves.
"""
import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support import Karst, contents, older_results, parser, sphere_deck, sphere_image

PATIENCE = 120.0  # for a run to end [s]
TIMES = {"seconds", "setup_seconds", "step_seconds", "communication", "memory", "solves_from_earlier_run", "deck"}
OLD = ("plot.vtkhdf", "report.html")
PASSED_ON = 2  # what mpirun waits before it passes a request on to the ranks, and once more before it kills them [s]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}

WATERS = ('[[transport.component]]\nname = "pulse"\ninlet = "t < 100 ? 1 : 0"\n[chemistry]\ninitial = "water"\ninlet = "acid"\nskip = 1e-5\n'
          'walls = "{}"\n[[chemistry.solution]]\nname = "water"\npH = 8\ntotals = ["Na 1e-2 charge", "Cl 1e-2"]\n'
          '[[chemistry.solution]]\nname = "acid"\npH = 3\ntotals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]\n'
          '[[chemistry.mineral]]\nphase = "Calcite"\nwall = "all"\nrates = ["0.89 H+ 1", "5e-4 CO2 1", "6.6e-7"]\n'
          '[time]\nend_pore_volumes = 1\noutput_pore_volumes = 0.24\n[checkpoint]\nevery_steps = 3\n'
          '[output]\nplot = ["concentration", "chemistry"]\n')
NO_PICTURES = ["output.plot=[]", "output.slice=[]"]  # overrides of a deck below
PROBE = '[[output.probe]]\nname = "corner"\nposition = [0.3e-3, 0.05e-3, 0.1e-3]\n'
DECKS = {
    "axes": sphere_deck(16, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\n[diffusion]\naxes = ["x", "y"]\n'
            '[output]\nplot = ["velocity", "pressure", "concentration"]\n',
    "periodic": sphere_deck(16, radius=0.38) + '[diffusion]\naxes = ["x", "z"]\n[output]\nplot = ["concentration"]\n',
    "sweep": sphere_deck(16, radius=0.38) + '[fluid]\nviscosity = 1e-3\n[flow]\nmodel = "steady"\ndrive = "velocity"\n'
             'velocity = 2e-3\nsteps = [1, 3, 9, 20]\naxes = ["x", "y"]\n[output]\nplot = ["velocity", "pressure"]\n',
    "march": sphere_deck(16, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n'
             'estimate_error = false\n[transport]\npeclet = 5\n[[transport.component]]\nname = "tracer"\ninlet = "1"\n'
             '[[transport.component]]\nname = "pulse"\ninlet = "t < 100 ? 1 : 0"\ndecay = 1e-3\n'
             '[time]\nend_pore_volumes = 1\noutput_pore_volumes = 0.24\n[checkpoint]\nevery_steps = 7\n'
             '[output]\nplot = ["concentration"]\n[[output.slice]]\naxis = "z"\nevery = 30\n' + PROBE,
    # Walls move, and the ground with them.
    "dissolved": sphere_deck(16, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n'
                 '[transport]\nmode = "steady"\npeclet = 5\n[[transport.component]]\nname = "acid"\ninlet = 10\n[[transport.wall]]\nrate = 1e-6\n'
                 '[walls]\nanimation = true\n[[walls.mineral]]\nmolar_volume = "36.9 cm3/mol"\n[time]\nend = "3 d"\noutput = "1 d"\n[checkpoint]\nevery_steps = 2\n'
                 '[[geometry.solid]]\nshape = "sphere"\ncenter = [0.2e-3, 0.2e-3, 0.2e-3]\nradius = 0.06e-3\n'  # it vanishes
                 '[output]\nplot = ["concentration", "velocity"]\n',
    # The same beside transport in time.
    "worn": sphere_deck(16, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n'
            '[transport]\npeclet = 5\n[[transport.component]]\nname = "acid"\ninlet = 1\n[[transport.wall]]\nrate = 1e-5\n'
            '[[walls.mineral]]\nmolar_volume = "0.1 m3/mol"\n[time]\nend_pore_volumes = 1.5\noutput_pore_volumes = 0.6\n[checkpoint]\nevery_steps = 7\n'
            '[output]\nplot = ["concentration", "velocity"]\ngeometry = true\n' + PROBE,
    # Minerals of the chemistry move them; most of the time passes without steps.
    "weathered": sphere_deck(12, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n'
                 '[transport]\npeclet = 5\n[walls]\nstandstill = 0.02\n[[walls.mineral]]\n' +
                 WATERS.format("as-needed").replace("end_pore_volumes = 1", "end = 4e5").replace("output_pore_volumes = 0.24", "output = 1.5e5"),
    # Gypsum grows on the walls that dissolve, and some of it dissolves again.
    "coated": sphere_deck(12, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n'
              '[transport]\npeclet = 5\n[walls]\nstandstill = 0.02\n[[walls.mineral]]\nmolar_volume = "2e-3 m3/mol"\n' +
              WATERS.format("as-needed").replace("end_pore_volumes = 1", "end = 100").replace("output_pore_volumes = 0.24", "output = 40")
              .replace('pH = 3\ntotals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]', 'pH = "charge"\ntotals = ["Na 1e-2", "Cl 1e-2", "S(6) 0.05"]') +
              '[[chemistry.mineral]]\nname = "gypsum"\nphase = "Gypsum"\nwall = "all"\ndeposit = true\nrates = ["1.6e-3"]\n',
    # The grid follows the pulse.
    "followed": sphere_deck(16, radius=0.41) + '[[grid.refine]]\nwhere = "front"\ncomponent = "pulse"\nlow = 0.05\nhigh = 2\n'
                '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\nestimate_error = false\n[transport]\npeclet = 20\n'
                '[[transport.component]]\nname = "pulse"\ninlet = "t < 20 ? 1 : 0"\n[time]\nend_pore_volumes = 0.7\n'
                '[checkpoint]\nevery_steps = 7\n[output]\nplot = ["concentration"]\n' + PROBE,
    "pulsed": sphere_deck(16, radius=0.38) + '[fluid]\nviscosity = 1e-3\ndensity = 1000\n[flow]\nmodel = "navier-stokes"\n'
              'axes = ["x"]\ndrive = "pressure-drop"\npressure_drop = 2\ndrive_factor = "t < 0.02 ? 1 : 0.3"\nanimation = true\n'
              '[time]\nend = 0.06\ncfl = 0.5\ndt = 1e-3\noutput = 0.025\n[checkpoint]\nevery_steps = 7\n'
              '[output]\nplot = ["velocity", "pressure"]\nfiles = 2\n',  # on two ranks
    # A flow in time carries what comes in: a checkpoint has both.
    "carried": sphere_deck(16, radius=0.38) + '[fluid]\nviscosity = 1e-3\n[flow]\nmodel = "navier-stokes"\n'
               'axes = ["x"]\ndrive = "pressure-drop"\npressure_drop = 2\ndrive_factor = "t < 0.02 ? 1 : 0.3"\n'
               '[transport]\n[[transport.component]]\nname = "tracer"\ninlet = "t < 0.031 ? 1 : 0"\n'
               '[time]\nend = 0.06\ncfl = 0.5\ndt = 1e-3\noutput = 0.025\n[checkpoint]\nevery_steps = 7\n'
               '[output]\nplot = ["velocity", "concentration"]\n[[output.slice]]\naxis = "z"\nevery = 0.01\n' + PROBE,
    # D dt / h² is 6, and walls are solved within the step.
    "reactive": sphere_deck(12, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n'
                'estimate_error = false\n[transport]\npeclet = 0.5\n' + WATERS.format("coupled") + PROBE,
    # Walls react in turn, and a mineral in the fluid is used up in places.
    "porous": sphere_deck(12, radius=0.41) + '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n'
              'estimate_error = false\n[transport]\npeclet = 5\n' + WATERS.format("in-turn") + PROBE +
              '[[chemistry.mineral]]\nname = "dust"\nphase = "Aragonite"\narea = 0.1\namount = 2e-5\nrates = ["1e-2 H+ 1", "1e-6"]\n',
}
HISTORIES = ("evolution.csv", "wall_events.csv", "transport.csv", "profiles.csv", "history.csv", "chemistry.csv")
STATES = ("walls_checkpoint.h5", "transport_checkpoint.h5", "flow_checkpoint.h5")
SAME = 1e-6  # of curves, on other ranks
OVERRIDES = {"periodic": ["grid.periodic=[true,true,true]"], "followed": ["grid.box=8", "grid.levels=2"]}


def clean(summary):
    """Without times."""
    if isinstance(summary, dict):
        return {k: clean(v) for k, v in summary.items() if k not in TIMES}
    return [clean(v) for v in summary] if isinstance(summary, list) else summary


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in sorted({*a, *b}) for d in differences(a.get(k), b.get(k), f"{path}/{k}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [] if a == b else [f"{path}: {a} is {b} after --resume"]


def pictures(out):
    """What the page draws from the fields, bit for bit."""
    return re.findall(r"<svg.*?</svg>|data:image[^\"]*", (out / "report.html").read_text(), re.S)


def plotfiles(out, since):
    """The bytes of them and their parts, without the times [s] at which HDF5 objects were made, and what parts know each other by."""
    stamps = [struct.pack("<I", t) for t in range(int(since), int(time.time()) + 1)]
    found = {}
    for path in [*sorted(out.glob("*.vtkhdf")), *sorted(out.glob("*.part*")), *sorted(out.glob("moved_*.h5")), *sorted(out.glob("moved_*.vtp"))]:
        data = re.sub(rb"parts:[0-9a-f]{16}", b"", path.read_bytes())
        for stamp in stamps:
            data = data.replace(stamp, bytes(4))
        found[path.name] = data
    return found


def solves_in(log):
    """Names of the solves that a run tells the ends of."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return re.findall(r"^\[.*?\] \[info\] (\S.*): \d+ iterations", text, re.M)


def ranks_of(run):
    """Processes that mpirun has started."""
    try:
        return [int(pid) for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
    except OSError:
        return []


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def send(number, run, to_ranks):
    """The signal to the program, to all of its ranks, or to mpirun. Returns the ranks."""
    ranks = ranks_of(run)
    for pid in (ranks if to_ranks else []) or [run.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    return ranks


class Sample:
    """A deck and what it gives undisturbed."""

    def __init__(self, karst, folder, job, ranks):
        self.karst, self.folder, self.job, self.ranks = karst, folder, job, ranks
        folder.mkdir()
        (folder / "deck.toml").write_text(DECKS[job])
        self.out = folder / "out"
        self.began, start = time.time(), time.monotonic()
        result = karst.run(["run", "deck.toml", "--out", "reference", *OVERRIDES.get(job, [])], folder, ranks)
        self.seconds = time.monotonic() - start
        if result.status != 0:
            raise RuntimeError(f"the run that is not disturbed: {result}")
        reference = folder / "reference"
        self.summary, self.pictures = clean(json.loads((reference / "summary.json").read_text())), pictures(reference)
        self.histories = {name: (reference / name).read_bytes() for name in HISTORIES if (reference / name).exists()}
        self.plotfiles = plotfiles(reference, self.began)
        self.names = sorted(p.name for p in reference.iterdir())
        self.solved = solves_in(reference / "log.txt")

    def run(self, *more):
        return self.karst.run(["run", "deck.toml", "--out", "out", *more, *OVERRIDES.get(self.job, [])], self.folder, self.ranks)

    def stop(self, number, after, to_ranks, preload):
        """Starts a run, over older results or not, and stops it. Returns its status."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.older = after > 0.5 * self.seconds
        if self.older:
            older_results(self.out, *OLD)
        command = self.karst.command(["run", "deck.toml", "--out", "out", *(["--overwrite"] if self.older else []),
                                      *OVERRIDES.get(self.job, [])], self.ranks)
        environment = {**self.karst.environment(1), "OMPI_MCA_odls_base_sigkill_timeout": str(PASSED_ON), **preload}
        ranks = []
        with open(self.folder / "said.txt", "w") as said:
            run = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=said, stderr=said)
            if not preload:
                passed_on = self.ranks > 1 and not to_ranks and number != signal.SIGKILL
                time.sleep(max(after - PASSED_ON, 0.0) if passed_on else after)
                ranks = send(number, run, to_ranks)
            status = run.wait(timeout=PATIENCE)
        end = time.monotonic() + PATIENCE
        while any(map(lives, ranks)) and time.monotonic() < end:
            time.sleep(0.05)  # a killed mpirun ends before its ranks
        return status

    def finished(self):
        """Names of the solves that the stopped run said it had finished; those on their way do not count."""
        told = [*solves_in(self.out / "karst-unfinished" / "log.txt"), *solves_in(self.out / "log.txt")]
        return [name for name in told if name in self.solved]

    def problems_after_stop(self, number, status):
        files = {p.name: p for p in self.out.iterdir() if p.name != "karst.lock"} if self.out.exists() else {}
        here = sorted(n for n in files if n != "karst-unfinished")
        found = []
        if "summary.json" in files and number != signal.SIGKILL:
            said = json.loads(files["summary.json"].read_text()).get("status")
            if said == "completed" and here != self.names:
                found.append(f"completed with files {here}")
            if set(here) & {"transport.csv", "history.csv", "evolution.csv"}:  # the march had begun
                here = [name for name in here if not name.endswith((".csv", ".vtkhdf", ".vti", ".vtp", ".series")) and not name.startswith("moved_") and ".part" not in name]
            if said == "interrupted" and (status == 0 or here != ["deck.toml", "log.txt", "summary.json"] or self.older):
                found.append(f"interrupted with status {status}, files {here}")
        elif "summary.json" not in files and number != signal.SIGKILL and here:
            found.append(f"files {here} without a summary")
        if self.older and number != signal.SIGKILL and not self.is_complete():
            changed = [n for n in OLD if not (self.out / n).exists() or (self.out / n).read_bytes() != b"older"]
            found += [f"{n} of the older results changed" for n in changed]
        allowed = {0, -number, 128 + number} if self.ranks == 1 else None
        if allowed is not None and status not in allowed:
            found.append(f"status {status}")
        if status == STATUS.get(number) and self.ranks == 1 and "interrupted by" not in (self.folder / "said.txt").read_text():
            found.append("ends without a word")
        return found

    def resume(self):
        """Goes on; returns what is wrong with what it does and gives."""
        finished = self.finished()
        unfinished = self.out / "karst-unfinished"
        if self.is_complete() and unfinished.exists() and not any(unfinished.iterdir()):
            unfinished.rmdir()  # all is in its place: it was stopped before the last things that it does
        if self.is_complete() and not unfinished.exists():
            (self.out / "karst.lock").unlink(missing_ok=True)
        if self.is_complete() and not unfinished.exists():
            return self.problems_of_results()  # it came to its end before it was stopped
        end, marched = time.monotonic() + PATIENCE, False
        while True:  # mpirun may end before its ranks
            marched = marched or any((self.out / "karst-unfinished" / "solved" / name).exists() for name in STATES)
            result = self.run("--resume", *(["--overwrite"] if self.older and not self.has_solves() else []))
            if "another run uses it" not in result.err or time.monotonic() > end:
                break
            time.sleep(0.1)
        if result.status != 0:
            return [f"--resume: {result}"]
        found = self.problems_of_results()
        if "they are complete now" in result.out:
            return found
        if marched and "continues after step" not in result.out:
            found.append("a march begins at 0, and its state was there")
        read = re.findall(r"^(\S.*): from the earlier run", result.out, re.M)
        again = solves_in(self.out / "log.txt")
        if sorted(read + again) != sorted(self.solved):
            found.append(f"read {read}, solved {again}, wanted {self.solved}")
        # The last one that was told of may have been stopped on its way to the disk.
        found += [f"{name} solved again" for name in finished[:-1] if name in again]
        return found

    def problems_of_results(self):
        summary = clean(json.loads((self.out / "summary.json").read_text()))
        found = differences(self.summary, summary)[:5]
        found += [f"another {name}" for name, data in self.histories.items() if (self.out / name).read_bytes() != data]
        if pictures(self.out) != self.pictures:
            found.append("other pictures")
        found += [f"another {name}" for name, data in plotfiles(self.out, self.began).items() if data != self.plotfiles.get(name)]
        names = sorted(p.name for p in self.out.iterdir())
        if names != self.names:
            found.append(f"files {names}")
        return found

    def has_solves(self):
        return any((self.out / "karst-unfinished" / "solved").glob("*.h5"))

    def is_complete(self):
        summary = self.out / "summary.json"
        return summary.exists() and json.loads(summary.read_text()).get("status") == "completed"

    def moment(self, dice, preload, number):
        """One run that is stopped; returns a name and what is wrong."""
        after, variables, name = dice.uniform(0.0, 1.1 * self.seconds), {}, ""
        to_ranks = self.ranks > 1 and dice.random() < 0.5
        if number == signal.SIGKILL and self.ranks == 1 and dice.random() < 0.5:
            step = dice.randrange(1, 60)
            variables = {"LD_PRELOAD": preload, "KILL_AT": str(step), "KILL_FROM": ""}
            name = f"{self.job}, killed at file operation {step}"
        status = self.stop(number, after, to_ranks, variables)
        where = "to mpirun" if self.ranks > 1 and not to_ranks else f"on {self.ranks}"
        name = name or f"{self.job}, {number.name} {where} after {after:.2f} of {self.seconds:.2f} s"
        try:
            found = self.problems_after_stop(number, status)
            n = len(self.finished())
            return f"{name}, {n} of {len(self.solved)} solved", found + self.resume()
        except (OSError, ValueError) as error:
            return name, [f"{type(error).__name__}: {error}"]


class Import:
    """An import over an older geometry file."""

    def __init__(self, karst, folder, ranks):
        self.karst, self.folder, self.ranks = karst, folder, ranks
        folder.mkdir()
        n = 96
        (folder / "image.raw").write_bytes(sphere_image(n, 40))
        self.arguments = ["import", "image.raw", "-o", "rock.h5", "--overwrite", "--page", "none", "--size", f"{n},{n},{n}",
                          "--type", "uint8", "--voxel", "1e-6", "--pore", "0"]
        start = time.monotonic()
        result = karst.run(self.arguments, folder, ranks)
        self.seconds = time.monotonic() - start
        if result.status != 0:
            raise RuntimeError(f"the import that is not disturbed: {result}")
        self.new = (folder / "rock.h5").stat().st_size

    def moment(self, dice, preload, number):
        after = dice.uniform(0.0, self.seconds)
        (self.folder / "rock.h5").write_text("older")
        before = set(contents(self.folder))
        variables = {}
        if number == signal.SIGKILL and dice.random() < 0.5:
            variables = {"LD_PRELOAD": preload, "KILL_AT": str(dice.randrange(1, 4)), "KILL_FROM": ".tmp"}
        run = subprocess.Popen(self.karst.command(self.arguments, self.ranks), cwd=self.folder,
                               env={**self.karst.environment(1), **variables}, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        if not variables:
            time.sleep(after)
            run.send_signal(number)
        run.wait(timeout=PATIENCE)
        end = time.monotonic() + 5.0
        while self.ranks > 1 and set(contents(self.folder)) != before and time.monotonic() < end:
            time.sleep(0.05)  # mpirun may end before its ranks
        found = []
        rock = self.folder / "rock.h5"
        if rock.read_bytes() != b"older" and rock.stat().st_size != self.new:
            found.append(f"rock.h5 of {rock.stat().st_size} bytes")
        for name in set(contents(self.folder)) - before:
            if number != signal.SIGKILL or name.startswith(".") or not name.endswith(".tmp"):
                found.append(f"left behind: {name}")
            (self.folder / name).unlink(missing_ok=True)
        if dice.random() < 0.1:
            again = self.karst.run(self.arguments, self.folder, self.ranks)
            if again.status != 0:
                found.append(f"the import after it: {again}")
        return f"import, {number.name} on {self.ranks} after {after:.2f} of {self.seconds:.2f} s", found


def killed_in_march(karst, folder, out, preload, ranks=1):
    """A march that is killed when it makes room for a further state, at the same moment of it on any machine."""
    at = {"LD_PRELOAD": preload, "KILL_OF": "_checkpoint.h5", "KILL_AT": "3"}
    return karst.run(["run", "deck.toml", "--out", out], folder, ranks, variables=at)


def whole_march(karst, folder, job):
    """Uninterrupted, on one rank, into JOB_whole; once."""
    (folder / "deck.toml").write_text(DECKS[job])
    if (folder / f"{job}_whole").exists():
        return
    done = karst.run(["run", "deck.toml", "--out", f"{job}_whole"], folder)
    if done.status != 0:
        raise RuntimeError(f"the march that is not disturbed: {done}")


def on_other_ranks(karst, folder, job, files, preload, ranks, others):
    """A march that is killed on some ranks and goes on on others. Columns of files: {name: which}."""
    whole_march(karst, folder, job)
    stopped = killed_in_march(karst, folder, f"{job}_stopped", preload, ranks)
    if stopped.status == 0:
        return [f"the march: {stopped}"]
    found = []
    for other in others:
        out = f"{job}_on_{other}"
        shutil.copytree(folder / f"{job}_stopped", folder / out)
        rest = karst.run(["run", "deck.toml", "--out", out, "--resume"], folder, other)
        if rest.status != 0 or "continues after step" not in rest.out:
            found.append(f"the rest on {other}: {rest}")
            continue
        for name, columns in files.items():
            a, b = ([[float(x or 0) for x in line.split(",")] for line in (folder / place / name).read_text().split()[1:]]
                    for place in (f"{job}_whole", out))
            scale = {i: max(abs(row[i]) for row in a) for i in columns}
            if len(a) != len(b) or any(abs(p[i] - q[i]) > SAME * scale[i] for p, q in zip(a, b) for i in columns):
                found.append(f"{name} of a march on {ranks} ranks, then {other}, is another: {len(a)} and {len(b)} steps")
    return found


def damaged(karst, folder, preload):
    """A march that was stopped and whose last states are damaged goes on from the one before, or begins at 0: the same curves."""
    whole_march(karst, folder, "march")
    killed_in_march(karst, folder, "damaged", preload)
    wanted = {name: (folder / "march_whole" / name).read_bytes() for name in ("transport.csv", "profiles.csv")}
    found = []

    def flip(path):
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 16
        path.write_bytes(data)

    def cut(path):
        os.truncate(path, path.stat().st_size // 2)

    one_before, from_the_start = "the state before it is used", ""
    for name, harm, states, said in (("a bit", flip, 1, one_before), ("half", cut, 1, one_before), ("both", flip, 2, from_the_start)):
        again = folder / f"again_{name.replace(' ', '_')}"
        shutil.copytree(folder / "damaged", again)
        solved = next(again.rglob("transport_checkpoint.h5")).parent
        for state in ("transport_checkpoint.h5", "transport_checkpoint.1.h5")[:states]:
            harm(solved / state)
        run = karst.run(["run", "deck.toml", "--out", again.name, "--resume"], folder)
        if run.status != 0 or "is damaged" not in run.out or said not in run.out or (states == 2) == ("continues after step" in run.out):
            found.append(f"{name} of a state damaged: {run}")
        found += [f"{name} of a state damaged: another {file}" for file, data in wanted.items()
                  if run.status == 0 and (again / file).read_bytes() != data]
    return found


def not_kept(karst, folder, preload):
    """States that cannot be written cost nothing but themselves: the march ends in the same curves and says what failed. A march
    without plotfiles has states."""
    (folder / "deck.toml").write_text(DECKS["march"])
    found = []
    whole = karst.run(["run", "deck.toml", "--out", "all_kept", *NO_PICTURES], folder)
    if whole.status != 0 or " for --resume" in (folder / "all_kept" / "log.txt").read_text():
        return [f"a march without plotfiles: {whole}"]
    for name, variables, said in (("the last is not moved away", {"KILL_OF": "_checkpoint.h5"}, "Input/output error"),
                                  ("the new one does not come", {"KILL_INTO": "_checkpoint.h5"}, "Input/output error")):
        run = karst.run(["run", "deck.toml", "--out", "not_kept", "--overwrite"], folder,
                        variables={"LD_PRELOAD": preload, "FAIL_AT": "1", **variables})
        log = (folder / "not_kept" / "log.txt").read_text() if run.status == 0 else ""
        if run.status != 0 or not re.search(f"transport.*for --resume.*{said}", log):
            found.append(f"{name}: {run}")
        elif (folder / "not_kept" / "transport.csv").read_bytes() != (folder / "all_kept" / "transport.csv").read_bytes():
            found.append(f"{name}: another transport.csv")
    return found


def asked_twice(karst, folder):
    """Without --resume nothing that was solved goes; --time-limit ends in order; a failed run keeps what it has."""
    found = []
    (folder / "deck.toml").write_text(DECKS["axes"])
    out = folder / "out"
    for limit in (["run.time_limit=0.01"], ["run.time_limit=1h", "--time-limit", "0.01"]):
        limited = karst.run(["run", "deck.toml", "--out", "out", *limit], folder)
        summary = json.loads((out / "summary.json").read_text()) if (out / "summary.json").exists() else {}
        if limited.status != 124 or summary.get("status") != "interrupted" or "the time limit is reached" not in limited.err:
            found.append(f"{limit}: {limited}")
        shutil.rmtree(out)
    (folder / "deck.toml").write_text(DECKS["sweep"])
    failed = karst.run(["run", "deck.toml", "--out", "out", "flow.steps=[1, 1e9]", "flow.newton_steps=8", "flow.axes=[\"x\"]"], folder)
    summary = json.loads((out / "summary.json").read_text()) if (out / "summary.json").exists() else {}
    if (failed.status != 1 or summary.get("status") != "failed" or "no steady flow found" not in summary.get("reason", "")
            or len(summary.get("finished_solves", [{}])[0].get("inertia", [])) != 1):
        found.append(f"a run that fails: {failed}, summary {summary}")
    plain = karst.run(["run", "deck.toml", "--out", "out"], folder)
    if plain.status != 1 or "--resume" not in plain.err or "--overwrite" not in plain.err:
        found.append(f"a run where solves of another one lie: {plain}")
    page = karst.run(["report", "out"], folder)
    if page.status != 1 or "ended early" not in page.err:
        found.append(f"a page of a run that failed: {page}")
    other = karst.run(["run", "deck.toml", "--out", "out", "--resume", "flow.axes=[\"x\"]", "flow.steps=[1]"], folder)
    if other.status != 0 or 'is not used, it belongs to other input: was "[flow] steps' not in other.out:
        found.append(f"--resume with another deck: {other}")
    return found


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    arguments.add_argument("--moments", type=int, default=0, help="of each campaign (default: three of a few)")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--short", action="store_true", help="fewer of the marches that go on on other ranks")
    arguments.add_argument("campaigns", nargs="*", help="said; states; axes_1, sweep_2, periodic_1, import_2 ... (default: all)")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    dice = random.Random(options.seed)
    failed, n, wrong = 0, 0, []
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(place)
        (folder / "asked").mkdir()
        def tell(name, problems):
            nonlocal failed, n
            n += 1
            failed += 1 if problems else 0
            wrong.extend([name] if problems else [])
            print("FAILED" if problems else "passed", name, "; ".join(problems), flush=True)
        if not options.campaigns or "said" in options.campaigns:
            tell("what is said", asked_twice(karst, folder / "asked"))
        if not options.campaigns or "states" in options.campaigns:
            tell("states that are not kept", not_kept(karst, folder / "asked", options.preload))
            tell("damaged states", damaged(karst, folder / "asked", options.preload))
            # Time, volumes, step, outlet and mean of what is carried; of the mineral the rate and what has dissolved; of a flow
            # its speed and energy.
            for job, ranks, others, files in (
                    ("march", 4, (1, 2, 3), {"transport.csv": (0, 1, 2, 3, 4, 12, 13)}),
                    ("carried", 2, (1,), {"transport.csv": (0, 1, 2, 3, 4), "history.csv": (0, 1, 4, 8)}),
                    ("reactive", 2, (1,), {"transport.csv": (0, 1, 2, 3, 4), "chemistry.csv": (0, 1, 4)})):
                if options.short and job == "reactive":
                    continue
                others = others[1:2] if options.short and len(others) > 1 else others
                tell(f"{job} on other ranks", on_other_ranks(karst, folder / "asked", job, files, options.preload, ranks, others))
        campaigns = [(job, ranks) for job in ("axes", "sweep", "periodic", "march", "followed", "dissolved", "worn", "weathered", "coated", "pulsed", "carried", "reactive", "porous", "import") for ranks in (1, 2)]
        if options.moments == 0:
            campaigns = [("axes", 1), ("sweep", 1), ("march", 1), ("followed", 1), ("dissolved", 1), ("worn", 1), ("weathered", 1), ("coated", 1), ("pulsed", 1), ("carried", 1), ("reactive", 1), ("porous", 1), ("axes", 2)]
        signals = itertools.cycle(SIGNALS)
        for job, ranks in campaigns:
            if options.campaigns and f"{job}_{ranks}" not in options.campaigns:
                continue
            place_of_it = folder / f"{job}_{ranks}"
            sample = Import(karst, place_of_it, ranks) if job == "import" else Sample(karst, place_of_it, job, ranks)
            for _ in range(options.moments or 3):
                tell(*sample.moment(dice, options.preload, next(signals)))
    print(f"{failed} of {n} moments failed" + "".join(f"; {name}" for name in wrong))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

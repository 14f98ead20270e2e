#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An import or a run that is killed leaves the older result unchanged, and no partial file.

killed.py --program KARST --mpiexec MPIEXEC [--full]
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support import HANGING, Karst, contents, older_results, parser, sphere_deck

N = 256  # voxels per side: a few seconds


def image():
    """Planes with a round pore that moves from plane to plane."""
    planes = []
    for phase in range(8):
        rows = (bytes(60 if (x - 100 - 5 * phase) ** 2 + (y - 128) ** 2 < 6400 else 180 for x in range(N)) for y in range(N))
        planes.append(b"".join(rows))
    return b"".join(planes[z % 8] for z in range(N))


def temporary_files(folder):
    return [p for p in folder.iterdir() if p.name.startswith("rock.h5.") and p.name.endswith(".tmp")]


def runs_in(folder):
    """Is there a process that works in the folder?"""
    for process in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if process.readlink() == folder:
                return True
        except OSError:  # it ended, or is not ours
            pass
    return False


def wait_for_ranks(folder):
    """mpirun may end before its ranks."""
    end = time.monotonic() + HANGING
    while runs_in(folder.resolve()) and time.monotonic() < end:
        time.sleep(0.02)


def kill_when(karst, folder, arguments, ranks, number, busy):
    """Starts the program and kills its process (one rank) or its mpirun once busy(); returns what is wrong."""
    run = subprocess.Popen(karst.command(arguments, ranks), cwd=folder, env=karst.environment(1), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    end = time.monotonic() + HANGING
    while not busy():
        if run.poll() is not None or time.monotonic() > end:
            run.kill()
            return [f"it ended or took too long before it was to be killed (status {run.poll()})"]
        time.sleep(0.01)
    os.kill(run.pid, number)
    if run.wait(timeout=HANGING) == 0:
        return ["when killed it ended with status 0"]
    wait_for_ranks(folder)
    return []


def kill(karst, folder, ranks, number):
    """Kills an import once it writes; returns what is wrong."""
    command = ["import", "image.raw", "-o", "rock.h5", "--overwrite", "--page", "none", "--size", f"{N},{N},{N}", "--type",
               "uint8", "--voxel", "1e-6", "--pore", "60"]
    before = contents(folder)
    wrong = kill_when(karst, folder, command, ranks, number, lambda: temporary_files(folder))
    if wrong:
        return wrong
    left = [p.name for p in temporary_files(folder)]
    for name in left:
        (folder / name).unlink()
    problems = [f"left behind: {left}"] if left and number != signal.SIGKILL else []
    return problems + (["files changed"] if contents(folder) != before else [])


JOBS = {"diffusion": '[diffusion]\naxes = ["x", "y", "z"]\n', "flow": '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\n'}


def kill_run(karst, folder, ranks, number, job):
    """Kills `karst run` while it works on three solves of some seconds each.

    Returns what is wrong with the older results and with a run after it.
    """
    (folder / "deck.toml").write_text(sphere_deck(128, box=16) + JOBS[job])
    shutil.rmtree(folder / "out", ignore_errors=True)
    older_results(folder / "out", "plot.vtkhdf", "report.html")
    before = {p.name: p.read_text() for p in (folder / "out").iterdir()}
    log = folder / "out" / "karst-unfinished" / "log.txt"
    wrong = kill_when(karst, folder, ["run", "deck.toml", "--overwrite"], ranks, number,
                      lambda: log.exists() and "Repairs" in log.read_text())
    if wrong:
        return wrong
    problems = [f"{p.name} changed" for p in (folder / "out").iterdir() if p.name in before and p.read_text() != before[p.name]]
    again = karst.run(["run", "deck.toml", "--overwrite", "grid.cells=[16,16,16]", "output.plot=[]"], folder)
    names = sorted(p.name for p in (folder / "out").iterdir())
    if again.status != 0 or names != ["deck.toml", "log.txt", "report.html", "summary.json", "timers.json", "timers.txt"]:
        problems.append(f"a run after it: {again}, files {names}")
    return problems


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true", help="every signal")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    failed = False
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(place)
        (folder / "image.raw").write_bytes(image())
        (folder / "rock.h5").write_text("older result")
        for ranks, number in ((1, signal.SIGINT), (1, signal.SIGKILL), (2, signal.SIGTERM), (1, signal.SIGTERM))[:4 if options.full else 3]:
            problems = kill(karst, folder, ranks, number)
            print("FAILED" if problems else "passed", f"{number.name} on {ranks} ranks", "; ".join(problems), flush=True)
            failed = failed or bool(problems)
        of_runs = ((1, signal.SIGTERM, "diffusion"), (1, signal.SIGKILL, "flow"), (2, signal.SIGTERM, "flow"), (1, signal.SIGINT, "flow"))
        for ranks, number, job in of_runs[:4 if options.full else 3]:
            problems = kill_run(karst, folder, ranks, number, job)
            print("FAILED" if problems else "passed", f"{job}, {number.name} on {ranks} ranks", "; ".join(problems),
                  flush=True)
            failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

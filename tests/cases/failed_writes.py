#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every single file operation of a run fails once: opening, writing, fsync, renaming, closing, removal.

    failed_writes.py --program KARST --mpiexec MPIEXEC --preload libkill_at.so [--every N] [--runs NAME ...] [--ranks N]
                     [--only REGEX]

The run must end with status 1 and a message with the file that could not be written, or with complete and correct results.
It must not end by a signal, hang, or leave a partial file next to "completed". In each of the tiny runs every N-th operation
is tried, starting from a random one; with --only those whose kind and path match.
"""
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Karst, parser
from tiny_runs import RUNS

STARTS_ITS_OWN = ("study", "batch")  # commands that are not run under mpirun
LIMIT = 120.0  # [s]; such a run takes a second
FOREIGN = ["PETSC", "MPI_ABORT", "Process received signal", "LOG ERROR", "infinite loop", "terminate called", "This is a bug"]
TIMES = re.compile(rb"[0-9.e+-]+ (?:ms|s|us|min|h|MiB|KiB|B)\b|\[[0-9: .-]+\]")


def alike(name, text, golden):
    """Whether a file is the one of the run in which nothing failed, but for times."""
    if name.endswith((".csv", ".png", ".vti", ".vtp", ".vtkhdf", ".series", ".sbatch", ".sh", "deck.toml")):
        return text == golden or "study" in name
    if name.endswith("timers.json"):
        return phases(text) - NOT_KEPT == phases(golden) - NOT_KEPT
    if name.endswith(".json"):
        return shape(json.loads(text)) == shape(json.loads(golden))
    if name.endswith("log.txt"):
        return told_lines(golden) == told_lines(text) or b" for --resume" in text
    if name.endswith("timers.txt"):
        return len(text) > 0  # of the same numbers as timers.json
    if name.endswith(".html"):
        return len(TIMES.sub(b"", golden).split(b"\n")) == len(TIMES.sub(b"", text).split(b"\n"))
    return len(text) == len(golden)  # HDF5, traces of no fixed length aside


NOT_KEPT = {("solves to disk",)}  # a phase that is not there when what it writes is not kept


def phases(timers):
    return {tuple(phase["path"]) for phase in json.loads(timers)["timers"]}


def told_lines(log):
    """So many, without those of the progress, which a slow machine tells."""
    return sum(b" % " not in line for line in log.split(b"\n"))


def shape(value):
    """A JSON value without its numbers and texts, lists by their lengths."""
    if isinstance(value, dict):
        return {key: shape(v) for key, v in value.items()}
    return [shape(v) for v in value] if isinstance(value, list) else type(value).__name__ in ("int", "float")


def results(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()}


class Campaign:
    def __init__(self, karst, preload, ranks):
        self.karst, self.preload, self.ranks = karst, preload, ranks
        self.counts = {"tried": 0, "told": 0, "right": 0}
        self.failures = []

    def run(self, folder, arguments, files, **variables):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        environment = {**self.karst.environment(1), "LD_PRELOAD": self.preload, "FAIL_IN": f"{folder}/out", **variables}
        try:
            done = subprocess.run(self.karst.command(arguments, self.ranks), cwd=folder, env=environment, capture_output=True,
                                  text=True, timeout=LIMIT, errors="replace")
        except subprocess.TimeoutExpired:
            return None
        return done

    def problem(self, done, folder, golden):
        """What is wrong with a run one of whose changes failed; empty: nothing."""
        if done is None:
            return "no end"
        foreign = [word for word in FOREIGN if word in done.stdout + done.stderr]
        if foreign:
            return f"status {done.returncode}, says {foreign}"
        if done.returncode == 1:
            self.counts["told"] += 1
            return "" if "error:" in done.stderr else "status 1 without a message"
        if done.returncode != 0:
            return f"status {done.returncode}"
        self.counts["right"] += 1
        found = results(folder)
        missing = sorted(set(golden) - set(found))
        other = [n for n in golden if n in found and not n.endswith(".trace") and not alike(n, found[n], golden[n])]
        return f"completed, but missing {missing}, different {other}" if missing or other else ""

    def all_of(self, place, name, every, only, dice):
        """Of a run on several ranks each change fails on one rank alone, as where only that one's disk does."""
        arguments, files = RUNS[name]
        folder, log = place / "run", place / "changes"
        for rank in range(self.ranks):
            of_rank = {"FAIL_RANK": str(rank)} if self.ranks > 1 else {}
            log.write_text("")
            done = self.run(folder, arguments, files, FAIL_LOG=str(log), **of_rank)
            if done is None or done.returncode != 0:
                self.failures.append(f"{name}: does not run\n{done and done.stderr}")
                return print("FAILED", self.failures[-1])
            golden, changes = results(folder), log.read_text().splitlines()
            meant = [n for n, change in enumerate(changes, 1) if re.search(only, change)]
            tried = meant[dice.randrange(min(every, len(meant))) :: every] if meant else []
            for n in tried:
                self.counts["tried"] += 1
                done = self.run(folder, arguments, files, FAIL_AT=str(n), **of_rank)
                problem = self.problem(done, folder, golden)
                if problem:
                    said = done.stderr[-600:] if done else ""
                    self.failures.append(f"{name}, rank {rank}, change {n} ({changes[n - 1].replace(str(place), '')}): {problem}\n{said}")
                    print("FAILED", self.failures[-1], flush=True)
            print(f"{name}: {len(changes)} changes of files on rank {rank}, {len(tried)} of them failed once", flush=True)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True, type=lambda path: str(Path(path).resolve()))
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--runs", nargs="*", default=list(RUNS))
    arguments.add_argument("--ranks", type=int, default=1)
    arguments.add_argument("--only", default="", help="a regular expression")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    campaign = Campaign(Karst(options.program, options.mpiexec), options.preload, options.ranks)
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        for name in options.runs:
            if options.ranks > 1 and RUNS[name][0][0] in STARTS_ITS_OWN:
                continue
            campaign.all_of(Path(place), name, options.every, options.only, dice)
    counts = campaign.counts
    print(f"{counts['tried']} failed changes: {counts['told']} told, {counts['right']} complete and right, "
          f"{len(campaign.failures)} wrong")
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())

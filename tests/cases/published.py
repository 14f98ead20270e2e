#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run that is killed between any two steps of publishing its results loses neither the old nor the new ones.

published.py --program KARST --mpiexec MPIEXEC --preload libkill_at.so
"""
import json
import shutil
import signal
import sys

from support import Checks, contents, parser, program_and_folder, sphere_deck

OLD = {"deck.toml": "old deck", "inertia.csv": "old table", "log.txt": "old log", "plot.vtkhdf": "old fields",
       "report.html": "old page", "timers.txt": "old timers"}
OLD["summary.json"] = json.dumps({"karst": "old", "files": sorted([*OLD, "summary.json"])})
MINE = {"notes.txt": "mine", "plotting.py": "mine"}
NEW = ["deck.toml", "log.txt", "report.html", "summary.json", "timers.json", "timers.txt"]  # without a plotfile


def prepare(folder):
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for name, text in {**OLD, **MINE}.items():
        (out / name).write_text(text)
    return out


def run(karst, folder, preload, **variables):
    return karst.run(["run", "deck.toml", "--overwrite"], folder,
                     variables=dict(LD_PRELOAD=preload, KILL_FROM="/publishing.tmp", **variables))


def state_of(out):
    """"old", "new" or what it is instead, of the results in a folder."""
    files = {p.name: p for p in out.iterdir() if p.name != "karst.lock" and p.is_file()}
    if any(files[name].read_text() != text for name, text in MINE.items()):
        return "files of others changed"
    names = sorted(set(files) - set(MINE))
    if names == sorted(OLD):
        return "old" if all(files[n].read_text() == OLD[n] for n in names) else f"changed: {names}"
    if names == NEW and json.loads(files["summary.json"].read_text())["files"] == NEW:
        return "new" if not any(files[n].read_text() == OLD.get(n) for n in names) else f"old ones among {names}"
    return f"files {names}"


def dies(karst, folder, preload, step):
    """Returns what is wrong, and whether the run lived to its end."""
    out = prepare(folder)
    result = run(karst, folder, preload, KILL_AT=str(step))
    if result.status == 0:
        return ([] if state_of(out) == "new" else [f"not killed, {state_of(out)}"]), True
    if result.status != -signal.SIGKILL:
        return [f"not killed: {result}"], True
    before = state_of(out)
    report = karst.run(["report", "out"], folder)  # ends what was begun
    after = state_of(out)
    if before == "old" and after == "old":
        return [], False
    left = sorted(p.name for p in (out / "karst-unfinished").glob("*"))  # the folder may stay, empty
    return ([] if after == "new" and not left else [f"{before}, then {after}, left {left}: {report}"]), False


def fails(karst, folder, preload):
    """A rename fails: status 1, and the results are all there."""
    out = prepare(folder)
    result = run(karst, folder, preload, FAIL_AT="3")
    if result.status != 1 or "cannot be moved to its place" not in result.err:
        return [f"a rename that fails: {result}"]
    karst.run(["report", "out"], folder)
    return [] if state_of(out) == "new" else [f"after a rename that failed: {state_of(out)}"]


def input_in_the_way(karst, folder):
    """The deck of the run lies where its results would go."""
    own = folder / "own"
    own.mkdir()
    (own / "deck.toml").write_text((folder / "deck.toml").read_text())
    before = contents(own)
    result = karst.run(["run", "deck.toml", "--out", ".", "--overwrite"], own)
    ok = result.status == 1 and "this run reads" in result.err and contents(own) == before
    return [] if ok else [f"a deck among the results: {result}"]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--preload", required=True)
    options = arguments.parse_args()
    told = Checks()
    with program_and_folder(options) as (karst, folder):
        (folder / "deck.toml").write_text(sphere_deck(16) + "[output]\ndirectory = \"out\"\nplot = []\n"
                                          "[diffusion]\naxes = [\"x\"]\n")
        steps, ended = 0, False
        checks = []
        while not ended and steps < 40:
            steps += 1
            problems, ended = dies(karst, folder, options.preload, steps)
            checks.append((f"killed at step {steps}" if not ended else f"{steps - 1} steps, then it lives", problems))
        if steps < 8:
            checks.append(("steps", [f"only {steps}: the preloaded library sees nothing"]))
        checks.append(("a rename fails", fails(karst, folder, options.preload)))
        checks.append(("input in the way", input_in_the_way(karst, folder)))
        for name, problems in checks:
            told.problems(name, problems)
    return told.status


if __name__ == "__main__":
    sys.exit(main())

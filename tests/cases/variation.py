#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst variation` against the runs that it makes: all their timers, times in order, the requested steps; other runs are not
replaced without a request, existing runs count, and a run that fails or is interrupted is reported.

    variation.py --program KARST --mpiexec MPIEXEC
"""
import json
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from resume import DECKS, NO_PICTURES
from support import Checks, contents, parser, program_and_folder

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def read(path):
    return json.loads(Path(path).read_text())


def timers(folder):
    """{path: timer} of a run."""
    return {tuple(t["path"]): t for t in read(folder / "timers.json")["timers"]}


def spread_is_right(spread, values):
    mean = statistics.fmean(values)
    right = {"least": min(values), "mean": mean, "median": statistics.median(values), "most": max(values),
             "cov": statistics.stdev(values) / mean if mean > 0 else 0.0}
    return spread.keys() == right.keys() and all(abs(spread[k] - x) <= 1e-9 * abs(x) for k, x in right.items())


def main():
    options = parser(__doc__).parse_args()
    check = Checks()
    with program_and_folder(options) as (karst, folder):
        (folder / "deck.toml").write_text(DECKS["march"])
        command = ["variation", "deck.toml", "--runs", "3", "--ranks", "2", "--steps", "4:13", *NO_PICTURES]
        first = karst.run(command, folder)
        out = folder / "out_variation"
        check("three runs on two ranks", first.status == 0 and first.out.count(": done") == 3, first)
        told = read(out / "variation.json")
        runs = [timers(out / f"run_00{n}") for n in (1, 2, 3)]
        steps = [read(out / f"run_00{n}" / "timers.json")["steps"] for n in (1, 2, 3)]
        phases = {tuple(p["path"]): p for p in told["phases"]}
        check("phases", told["runs"] == 3 and phases.keys() == set().union(*runs)
              and {("geometry",), ("flow",), ("transport",), ("transport", "transport")} <= phases.keys(), list(phases))
        check("figures of the runs", all(
            spread_is_right(p["seconds"], [r[path]["most_s"] if path in r else 0.0 for r in runs])
            and abs(p["cov_of_ranks_and_threads"] - sum(r[path]["cov"] for r in runs if path in r) / 3) < 1e-12 for path, p in phases.items()), told)
        check("steps asked for", [s["number"] for s in told["steps"]] == [10] * 3 and all(
            spread_is_right(t["seconds"], s["seconds"][4 - s["first"]:14 - s["first"]]) and s["first"] == 1
            for t, s in zip(told["steps"], steps)), told["steps"])
        whole = [r["transport",]["most_s"] for r in runs]
        check("steps are part of the run", all(0.5 * w < sum(s["seconds"]) < 3.0 * w for s, w in zip(steps, whole)), (whole, steps))
        check("phases in steps", 0 < phases["transport", "transport"]["cov_of_steps"] and phases["geometry",]["cov_of_steps"] == 0, phases)

        # Of one run: what the summary, timers.json and timers.txt say of the steps.
        summary, table = read(out / "run_001" / "summary.json"), (out / "run_001" / "timers.txt").read_text()
        said = dict(summary["step_seconds"])
        check("steps in the summary", [said.pop("first"), said.pop("number")] == [1, len(steps[0]["seconds"])]
              and spread_is_right(said, steps[0]["seconds"]), summary["step_seconds"])
        head, row = re.search(r"^in (\d+) steps.*\n(?:.*\n)*?transport +(.*)", table, re.M).groups()
        most = re.findall(r"([\d.]+) (\S+)", row)[2]
        in_steps = runs[0]["transport",]["in_steps"]
        check("steps in timers.txt", int(head) == in_steps["steps"] == len(steps[0]["seconds"])
              and abs(float(most[0]) * UNITS[most[1]] / in_steps["most_s"] - 1) < 0.01
              and in_steps["most_s"] <= max(steps[0]["seconds"]), (row, in_steps))
        check("in order", all(0 <= t["least_s"] <= t["mean_s"] * (1 + 1e-12) <= t["most_s"] * (1 + 2e-12)
                              for r in runs for t in [*r.values(), *(t["in_steps"] for t in r.values() if "in_steps" in t)]), runs)

        # What is there counts; more runs are added; what others left is not replaced.
        before = contents(out)
        again = karst.run(command, folder)
        check("all there", again.status == 0 and again.out.count("done before") == 3 and contents(out) == before, again)
        fourth = karst.run([*command[:3], "4", *command[4:]], folder)
        check("one more", fourth.status == 0 and fourth.out.count("done before") == 3 and read(out / "variation.json")["runs"] == 4, fourth)
        before = contents(out)
        for name, other in (("another deck", [*command, "transport.peclet=4"]), ("other ranks", [*command[:4], *command[6:]])):
            refused = karst.run(other, folder)
            check(name, refused.status == 1 and "run_001" in refused.err and "--overwrite" in refused.err and contents(out) == before, refused)
        replaced = karst.run(["variation", "deck.toml", "--runs", "2", "--overwrite", *NO_PICTURES, "time.end_pore_volumes=0.3"], folder)
        check("replaced when asked to", replaced.status == 0 and replaced.out.count(": done") == 2 and read(out / "variation.json")["runs"] == 2
              and read(out / "run_002" / "summary.json")["ranks"] == 1, replaced)

        # Interrupted: the runs that are done stay, and the same command runs the others.
        run = subprocess.Popen(karst.command(["variation", "deck.toml", "--runs", "3", "--out", "cut", "-j", "1"]), cwd=folder, env=karst.environment(1),
                               stdout=subprocess.PIPE, text=True)
        while run.poll() is None and not (folder / "cut" / "run_001" / "summary.json").exists():
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        said = run.communicate()[0]
        check("interrupted", run.returncode == 143 and "run_001 of 3: done" in said and not (folder / "cut" / "variation.json").exists(), said)
        rest = karst.run(["variation", "deck.toml", "--runs", "3", "--out", "cut", "-j", "1"], folder)
        check("the others", rest.status == 0 and rest.out.count("done before") in (1, 2)
              and all("solves_from_earlier_run" not in read(folder / "cut" / f"run_00{n}" / "summary.json") for n in (1, 2, 3)), rest)

        steady = folder / "steady.toml"
        steady.write_text(DECKS["periodic"].replace('"x", "z"', '"x"'))
        plain = karst.run(["variation", "steady.toml", "--runs", "2", "--out", "steady"], folder)
        check("without steps", plain.status == 0 and read(folder / "steady" / "variation.json")["steps"] == []
              and "step_seconds" not in read(folder / "steady" / "run_001" / "summary.json"), plain)
        broken = karst.run(["variation", "steady.toml", "--out", "broken", "diffusion.max_iterations=1"], folder)
        check("a run that fails", broken.status == 1 and "run_001 of 5 failed" in broken.err and "did not converge" in broken.err
              and not (folder / "broken" / "run_002").exists() and not (folder / "broken" / "variation.json").exists(), broken)
        (folder / "rock.tif").write_bytes(b"")
        for name, words, arguments in (
                ("one run", "--runs", ["deck.toml", "--runs", "1"]), ("a word for steps", "FIRST:LAST", ["deck.toml", "--steps", "4"]),
                ("steps of a steady run", "no time steps", ["steady.toml", "--steps", "1:2"]),
                ("an image", "karst init --image rock.tif", ["rock.tif"]), ("no deck", "none.toml", ["none.toml"]),
                ("a mistake in the deck", "grid.boxx", ["deck.toml", "grid.boxx=8"])):
            bad = karst.run(["variation", *arguments, "--out", "bad"], folder)
            check(name, bad.status == 1 and words in bad.err and not (folder / "bad").exists(), bad)
        beyond = karst.run(["variation", "deck.toml", "--runs", "3", "--out", "cut", "-j", "1", "--steps", "100000:100001"], folder)
        check("steps that the runs did not make", beyond.status == 1 and "the runs made steps 1 to" in beyond.err, beyond)
        ranks = karst.run(["variation", "deck.toml", "--out", "bad"], folder, ranks=2)
        check("under mpirun", ranks.status == 1 and "--ranks 2" in ranks.err and not (folder / "bad").exists(), ranks)
    return check.status


if __name__ == "__main__":
    sys.exit(main())

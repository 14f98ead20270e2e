#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a deck several times and tells how much its times vary: between runs, between ranks and threads, between steps.

    karst_variation.py DECK [--runs 5] [--ranks 1] [--threads N] [--steps FIRST:LAST] [--program karst] [--json FILE] [key=value ...]

Plain Python, no packages. A difference of two programs, decks or machines that is smaller than what is told here has
not been measured.

  phases   every timer of timers.txt: mean over the runs of the time of the slowest rank or thread; least and largest run;
           CoV over the runs (standard deviation / mean), and mean CoV over ranks and threads within a run
  steps    with --steps: of these steps of a run in time (they are traced), the time of a step: mean, least, median,
           largest and CoV within each run; which take more than 1.2 times the median, and those that do in most runs
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import karst_trace

MOST = 8  # steps that are named
LONG = 1.2  # of the median: a long step
UNITS = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
WIDTH_OF_CALLS = 11  # the first of the columns of timers.txt behind the names: calls, min, mean, max, CoV, ...


def seconds(text):
    """Of "14.6 ms", "1 min 05 s"."""
    words = text.split()
    return sum(float(number) * UNITS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))


def timers(text):
    """{path of names: (longest time [s], CoV over ranks and threads)} of timers.txt, in its order."""
    found, above = {}, []
    head, *lines = text.split("\n\n")[0].splitlines()
    names = head.index(" calls ") + len(" calls") - WIDTH_OF_CALLS
    for line in lines:
        name, numbers = line[:names], line[names:]
        try:
            longest, spread = seconds(numbers[36:47]), float(numbers[47:54])
        except (KeyError, ValueError):
            raise SystemExit(f"timers.txt has an unknown line: {line!r}") from None
        above = above[:(len(name) - len(name.lstrip())) // 2] + [name.strip()]
        found[tuple(above)] = (longest, spread)
    return found


def cov(values):
    mean = statistics.fmean(values)
    return statistics.stdev(values) / mean if len(values) > 1 and mean > 0 else 0.0


def steps_of(path):
    """{number: seconds} of the steps of a trace: from the mark of one to that of the next, the slowest rank's."""
    trace, longest = karst_trace.Trace(path), {}
    for rank in trace.ranks():
        marks = [(time, number) for time, name, number in trace.first_thread(rank).marks if name == "step"]
        for (begin, number), (end, _) in zip(marks, marks[1:]):
            longest[number] = max(longest.get(number, 0.0), 1e-9 * (end - begin))
    return longest


def run(options, folder):
    """Timers and steps of one run."""
    command = ["mpirun", "-n", str(options.ranks), "--bind-to", "none"] if options.ranks > 1 else []
    command += [options.program, "run", options.deck, "--out", folder / "out", *options.values]
    if options.threads:
        command += ["-j", str(options.threads)]
    if options.steps:
        command += ["--trace", folder / "trace", "--trace-steps", options.steps]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {done.returncode}: {done.stderr.strip()}")
    return timers((folder / "out" / "timers.txt").read_text()), steps_of(folder / "trace") if options.steps else {}


def summary(runs):
    phases = []
    for path in dict.fromkeys(path for of_run, _ in runs for path in of_run):
        times = [of_run.get(path, (0.0, 0.0))[0] for of_run, _ in runs]
        spread = statistics.fmean(of_run.get(path, (0.0, 0.0))[1] for of_run, _ in runs)
        phases.append({"phase": list(path), "mean_s": statistics.fmean(times), "least_s": min(times), "largest_s": max(times),
                       "cov_of_runs": cov(times), "cov_of_ranks_and_threads": spread})
    steps = []
    for _, of_run in runs:
        if not of_run:
            continue
        times = list(of_run.values())
        steps.append({"steps": len(times), "mean_s": statistics.fmean(times), "least_s": min(times), "median_s": statistics.median(times),
                      "largest_s": max(times), "cov": cov(times), "long": [n for n, t in of_run.items() if t > LONG * statistics.median(times)]})
    return {"runs": len(runs), "phases": phases, "steps": steps}


def text(s, least_part):
    lines = [f"{s['runs']} runs", "", f"{'phase':40} {'mean':>9} {'least':>9} {'largest':>9} {'CoV runs':>9} {'CoV ranks':>9}"]
    whole = max(p["mean_s"] for p in s["phases"])
    for p in s["phases"]:
        if p["mean_s"] < least_part * whole:
            continue
        name = "  " * (len(p["phase"]) - 1) + p["phase"][-1]
        lines.append(f"{name:40} {p['mean_s']:9.4g} {p['least_s']:9.4g} {p['largest_s']:9.4g} {100 * p['cov_of_runs']:8.1f}% "
                     f"{100 * p['cov_of_ranks_and_threads']:8.1f}%")
    if s["steps"]:
        lines += ["", f"{'steps of run':>12} {'steps':>6} {'mean':>9} {'least':>9} {'median':>9} {'largest':>9} {'CoV':>6}  long ones"]
        for i, r in enumerate(s["steps"], 1):
            lines.append(f"{i:12} {r['steps']:6} {r['mean_s']:9.4g} {r['least_s']:9.4g} {r['median_s']:9.4g} {r['largest_s']:9.4g} "
                         f"{100 * r['cov']:5.1f}%  {' '.join(map(str, r['long'][:MOST]))}{' ...' if len(r['long']) > MOST else ''}")
        often = [n for n, k in Counter(n for r in s["steps"] for n in r["long"]).items() if k > len(s["steps"]) / 2]
        lines.append("long in most runs: " + (", ".join(map(str, often[:MOST])) or "none"))
    return "\n".join(lines) + "\n\nTimes in seconds, of the slowest rank or thread."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deck")
    parser.add_argument("values", nargs="*", metavar="key=value", help="sets a key of the deck")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=1, help="of each run, by mpirun")
    parser.add_argument("--threads", type=int, default=0, help="of each rank")
    parser.add_argument("--steps", default="", metavar="FIRST:LAST", help="of a run in time, to be traced")
    parser.add_argument("--program", default="karst")
    parser.add_argument("--least", type=float, default=0.01, help="phases shorter than this part of the longest are not shown")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_intermixed_args()
    if options.runs < 2:
        parser.error(f"--runs {options.runs}: two runs are the fewest that vary")
    if os.sep in options.program:
        options.program = str(Path(options.program).resolve())
    runs = []
    with tempfile.TemporaryDirectory(prefix="karst_variation_") as place:
        for i in range(options.runs):
            folder = Path(place) / str(i)
            folder.mkdir()
            runs.append(run(options, folder))
            print(f"run {i + 1} of {options.runs} done", file=sys.stderr)
    s = summary(runs)
    print(text(s, options.least))
    if options.json:
        Path(options.json).write_text(json.dumps(s, indent=2) + "\n")


if __name__ == "__main__":
    main()

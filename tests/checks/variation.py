#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/karst_variation.py against the runs that it makes: every timer of theirs, times in order, the steps asked for.

    variation.py KARST MPIEXEC
"""
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "cases")]
import karst_variation
from resume import DECKS


def main():
    program, failures = sys.argv[1], []
    table = ("timer                    calls         min        mean         max    CoV of parent\n"
             "a                            4     11.1 ms     12.8 ms     14.6 ms   0.12   100.0 %\n"
             "  b with a 2nd name         16     9.54 µs     10.1 µs      318 µs   0.65    32.8 %\n"
             "c                            4 59 min 58 s 59 min 58 s 59 min 59 s   0.20   100.0 %\n\nmemory\n")
    if karst_variation.timers(table) != {("a",): (0.0146, 0.12), ("a", "b with a 2nd name"): (0.000318, 0.65), ("c",): (3599.0, 0.2)}:
        failures.append(f"timers: {karst_variation.timers(table)}")
    runs = [({("a",): (1.0, 0.1)}, {3: 1.0, 4: 1.0, 5: 2.0}), ({("a",): (3.0, 0.3), ("b",): (2.0, 0.0)}, {3: 1.0, 4: 1.1, 5: 3.0})]
    s = karst_variation.summary(runs)
    a, b = s["phases"]
    if (a["mean_s"], a["least_s"], a["largest_s"]) != (2.0, 1.0, 3.0) or abs(a["cov_of_runs"] - 2.0**0.5 / 2.0) > 1e-15:
        failures.append(f"a phase: {a}")
    if b["mean_s"] != 1.0 or [r["long"] for r in s["steps"]] != [[5], [5]] or "long in most runs: 5" not in karst_variation.text(s, 0.0):
        failures.append(f"phases of some runs, long steps: {b}, {s['steps']}")
    with tempfile.TemporaryDirectory(prefix="karst_check_") as place:
        deck, result = Path(place) / "deck.toml", Path(place) / "result.json"
        deck.write_text(DECKS["march"])
        command = [sys.executable, ROOT / "tools" / "karst_variation.py", deck, "--runs", "2", "--ranks", "2", "--program", program, "--steps",
                   "4:13", "--json", result, "output.plot=[]"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=place)
        if done.returncode != 0:
            failures.append(f"{done.stdout}{done.stderr}")
        else:
            s = json.loads(result.read_text())
            phases = {tuple(p["phase"]): p for p in s["phases"]}
            if not {("geometry",), ("flow",), ("transport",), ("transport", "transport")} <= phases.keys():
                failures.append(f"phases {list(phases)}")
            if any(not 0 <= p["least_s"] <= p["mean_s"] * (1 + 1e-12) <= p["largest_s"] * (1 + 2e-12) for p in s["phases"]):
                failures.append("times out of order")
            # From the mark of the first to that of the last.
            if [r["steps"] for r in s["steps"]] != [9, 9] or any(r["least_s"] <= 0.0 for r in s["steps"]):
                failures.append(f"steps {s['steps']}")
            whole = phases["transport",]["mean_s"]
            steps = statistics.fmean(r["mean_s"] for r in s["steps"])
            if not 10 * steps < 3.0 * whole:
                failures.append(f"steps of {steps} s in {whole} s of transport")
        one = subprocess.run([*command[:4], "1", *command[5:]], capture_output=True, text=True)
        if one.returncode == 0 or "two runs are the fewest" not in one.stderr:
            failures.append(f"one run: {one}")
    print("\n".join(failures) or "passed: variation")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

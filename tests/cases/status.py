#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst status` of a run in progress, of killed, interrupted, failed and completed ones, and of a folder without a run.

status.py --program KARST --mpiexec MPIEXEC
"""
import json
import signal
import subprocess
import sys
import time

from resume import DECKS
from support import Checks, parser, program_and_folder

PATIENCE = 60.0  # [s]


def main():
    options = parser(__doc__).parse_args()
    check = Checks()
    with program_and_folder(options) as (karst, folder):
        (folder / "deck.toml").write_text(DECKS["march"])

        def status():
            result = karst.run(["status", "out", "--json"], folder)
            return json.loads(result.out) if result.status == 0 else {"status": result.err}

        def start(*more):
            command = karst.command(["run", "deck.toml", "--out", "out", *more])
            return subprocess.Popen(command, cwd=folder, env=karst.environment(1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def wait_until(run, ready):
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and run.poll() is None:
                seen = status()
                if ready(seen):
                    return seen
            return seen

        none = karst.run(["status", "out"], folder)
        check("no run", none.status == 1 and "no run is active there" in none.err, none)
        # Many more steps, so that the run is still under way when it is looked at.
        slow = ["time.cfl=0.02", "time.end_pore_volumes=4"]
        run = start(*slow)
        seen = wait_until(run, lambda s: s["status"] == "running" and s.get("what", "").startswith("transport, step"))
        check("under way", seen["status"] == "running" and 0 <= seen.get("part", -1) < 1 and f"process {run.pid} on" in seen["holder"]
              and seen["told_s"] >= seen["begun_s"], seen)
        text = karst.run(["status", "out"], folder).out
        check("under way, in words", "out: running, process" in text and "last update" in text and "karst-unfinished" in text, text)
        run.kill()
        run.wait()
        seen = status()
        check("killed", seen["status"] == "killed" and seen["resumable"] and seen["what"].startswith("transport, step"), seen)
        text = karst.run(["status", "out"], folder).out
        check("killed, in words", "out: killed" in text and "--resume continues" in text, text)
        run = start("--resume", *slow)
        # What the killed run told stands there until this one tells of itself.
        wait_until(run, lambda s: s["status"] == "running" and s.get("what", "").startswith("transport, step"))
        run.send_signal(signal.SIGTERM)
        run.wait()
        seen = status()
        check("interrupted", seen["status"] == "interrupted" and "SIGTERM" in seen["reason"] and seen["resumable"], seen)
        done = karst.run(["run", "deck.toml", "--out", "out", "--resume"], folder)
        seen = status()
        check("ended", done.status == 0 and seen["status"] == "completed" and seen["seconds"] > 0 and not seen["resumable"], f"{done} {seen}")
        karst.run(["run", "deck.toml", "--out", "out", "--overwrite", "flow.max_iterations=1"], folder)
        seen = status()
        check("failed", seen["status"] == "failed" and "not converged" in seen["reason"], seen)
    return check.status


if __name__ == "__main__":
    sys.exit(main())

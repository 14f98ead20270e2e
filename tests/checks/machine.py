#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/karst_machine.py finds the parameters of synthetic runs; `karst check --machine --like` reproduces the time of a run, and its
errors say what is wrong.

    machine.py KARST MPIEXEC
"""
import contextlib
import io
import json
import math
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "cases")]
import karst_machine
from support import Karst, sphere_deck

SLOW_DOWN, LATENCY, BANDWIDTH, REDUCTION = 1.25, 2e-6, 2e9, 5e-6
PER_CELL = 3e-5
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def made_up(folder, edge, ranks):
    """A run of a cube cut into slabs, 500 exchanges of 32 bytes per cell and 2000 calls for all ranks."""
    neighbours = min(ranks - 1, 2)
    sent = {"messages": 500.0 * neighbours, "bytes": 500.0 * 32 * edge**2 * neighbours, "collectives": 2000.0,
            "exchange_messages": float(neighbours), "exchange_cells": float(edge**2 * neighbours)}
    seconds = PER_CELL * edge**3 / ranks * (SLOW_DOWN if ranks > 1 else 1.0) + sent["messages"] * LATENCY + sent["bytes"] / BANDWIDTH
    seconds += sent["collectives"] * REDUCTION * math.log2(ranks)
    place = folder / f"run_{edge}_{ranks}"
    place.mkdir()
    (place / "summary.json").write_text(json.dumps({
        "deck": "cube.toml", "ranks": ranks, "threads": 1, "cells": {"fluid": edge**3}, "levels": [{"imbalance": 1.0}],
        "communication": {"seconds": seconds, **{name: {"least": x, "mean": x, "most": x} for name, x in sent.items()}}}))
    return str(place)


def fitted(folder):
    fit = [made_up(folder, edge, ranks) for edge in (8, 16, 32, 64) for ranks in (1, 2)]
    held = [made_up(folder, 48, ranks) for ranks in (1, 2)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        karst_machine.main([*fit, "--held", *held, "--out", str(folder / "machine.toml")])
    found = dict(re.findall(r"^(\w+) = ([\d.e+-]+)$", (folder / "machine.toml").read_text(), re.MULTILINE))
    largest = re.search(r"largest ([\d.]+) %", said.getvalue())
    # Latency and a call for all ranks go with the same messages here: only their sum can be told.
    calls = 500.0 * float(found["latency"]) + 2000.0 * float(found["reduction"])
    if (found["cores"] != "2" or abs(float(found["slow_down"]) - SLOW_DOWN) > 0.01 or abs(calls / (500.0 * LATENCY + 2000.0 * REDUCTION) - 1.0) > 0.1
            or abs(float(found["bandwidth"]) / BANDWIDTH - 1.0) > 0.3 or not largest or float(largest[1]) > 1.0):
        yield f"made-up runs: {found}\n{said.getvalue()}"


def size_of(text):
    number, unit = text.split()
    return float(number) * {"B": 1, "KiB": 1024, "MiB": 1024**2}[unit]


def told_alike(karst, folder):
    """The formula of the time stands in the program and in the tool: both say the same of a plan of more ranks than have run."""
    like = karst_machine.read(folder / "on_2")
    # Machines on which messages, bytes and calls each took a sixth of that run, so that they and the work count, and half of it: no work is left.
    for share in (1 / 6, 1 / 2):
        each = share * like.seconds
        machine = karst_machine.Machine(cores=4, slow_down=1.5, latency=each / like.messages, per_byte=each / like.bytes, reduction=each / like.calls())
        (folder / "alike.toml").write_text(f"cores = 4\nslow_down = 1.5\nlatency = {machine.latency}\nbandwidth = {1 / machine.per_byte}\n"
                                           f"reduction = {machine.reduction}\n")
        for ranks in (2, 3, 5, 8, 13):
            plan = karst.run(["check", "ball.toml", "--ranks", ranks, "--machine", "alike.toml", "--like", "on_2"], folder)
            most = {name: re.search(rf"^ +{name} .* {{2}}(\S.*)$", plan.out, re.MULTILINE) for name in ("  at most, with walls on edges of boxes", "bytes, of one value per cell")}
            boxes = re.search(r"Plan for \S+ ranks, (\d+) boxes", plan.out)
            imbalance = re.search(r"imbalance of the least balanced level +([\d.]+)", plan.out)
            found = re.search(r"set-up and solves +([\d.]+) (\S+) +100.0 %", plan.out)
            if plan.status != 0 or not all(most.values()) or not imbalance or not boxes or not found:
                yield f"a plan for {ranks} ranks: {plan.out}{plan.err}"
                continue
            messages, size = (m[1] for m in most.values())
            cells = size_of(size) / 8 * int(boxes[1]) * 8**3 / like.fluid  # bytes are told of the fluid ones
            run = karst_machine.Run("", like.deck, ranks, 1, like.fluid, like.fluid / ranks * float(imbalance[1]), 0.0, 0.0, 0.0, 0.0,
                                    (float(messages), cells))
            wanted = karst_machine.predicted(machine, like, run)
            # Three digits are told, and the cells of the plan are estimated from a sample.
            if abs(float(found[1]) * UNITS[found[2]] / wanted - 1.0) > 0.03:
                yield f"{ranks} ranks: {wanted} s by the tool, {found[1]} {found[2]} by the program"


def checked(karst, folder):
    (folder / "ball.toml").write_text(sphere_deck(24, radius=0.38) + 'periodic = [true, true, true]\n[flow]\nmodel = "stokes"\n'
                                      'drive = "pressure-gradient"\naxes = ["x"]\n[output]\nplot = []\n')
    for ranks in (1, 2):
        run = karst.run(["run", "ball.toml", "--out", f"on_{ranks}"], folder, ranks=ranks)
        if run.status != 0:
            yield f"run on {ranks}: {run.err}"
            return
    seconds = json.loads((folder / "on_2" / "summary.json").read_text())["communication"]["seconds"]
    there = ["check", "ball.toml", "--ranks", "2", "--machine", "machine.toml", "--like"]
    same = karst.run([*there, "on_2"], folder)
    found = re.search(r"set-up and solves +([\d.]+) (\S+) +100.0 %", same.out)
    # The cells of the plan are estimated from a sample.
    if same.status != 0 or not found or abs(float(found[1]) * UNITS[found[2]] / seconds - 1.0) > 0.05:
        yield f"the run's own time, {seconds} s: {same.out}{same.err}"
    (folder / "wrong.toml").write_text("latency = -1\nlatncy = 1e-6\n")
    for words, wanted in ((there[:-1], "must be given together"), ([*there, "on_1"], "one rank"), ([*there, "nowhere"], "nowhere/summary.json"),
                          (["check", "ball.toml", "--machine", "machine.toml", "--like", "on_2"], "must be given together"),
                          (["check", "ball.toml", "--ranks", "2", "--machine", "wrong.toml", "--like", "on_2"], "latncy")):
        bad = karst.run(words, folder)
        if bad.status != 1 or wanted not in bad.err:
            yield f"{' '.join(words)}: status {bad.status}, wanted {wanted!r}\n{bad.err}"


def main():
    karst = Karst(sys.argv[1], sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="karst_check_") as place:
        folder = Path(place)
        failures = [*fitted(folder), *checked(karst, folder), *told_alike(karst, folder)]
    print("\n".join(failures) or "a machine is fitted, and a run is planned for it")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

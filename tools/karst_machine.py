#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the costs of messages and shared memory on a machine to finished runs, for `karst check --ranks N --machine FILE --like DIR`.

    karst_machine.py RUN... [--held RUN...] [--cores N] [--name TEXT] [--out machine.toml]

Plain Python, no packages. A RUN is the folder of a run; its summary.json contains the times of its jobs and the messages sent. Runs
of one sample on one rank and on several, small samples among them, determine the costs of messages; large ones on one core and on
all determine how cores that share a memory slow each other down. The model is that of `karst check` (docs/scaling.md):

    seconds = w C i g + M l + B / b + R r log2(ranks)

with one w for each sample. Least squares of the relative errors; no cost is below 0. Runs with --held are not
fitted: they are predicted from the largest fitted run of the same deck on two ranks or more, as `karst check` does.
"""
import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

SWEEPS = 4000
LEAST_COST = 1e-15  # s/B: what does not show in the runs is written as this


@dataclass
class Run:
    name: str
    deck: str
    ranks: int
    threads: int
    fluid: float
    work: float  # fluid cells of a rank times the imbalance
    seconds: float
    messages: float
    bytes: float
    collectives: float
    exchange: tuple  # messages and cells of one halo exchange

    def at_work(self):
        return self.ranks * self.threads

    def calls(self):
        return self.collectives * math.log2(self.ranks)


def read(folder):
    try:
        told = json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))
        sent = told["communication"]
        most = {name: sent[name]["most"] for name in ("messages", "bytes", "collectives", "exchange_messages", "exchange_cells")}
        imbalance = max([level["imbalance"] for level in told["levels"]], default=1.0)
        return Run(str(folder), told["deck"], told["ranks"], told["threads"], told["cells"]["fluid"],
                   told["cells"]["fluid"] / told["ranks"] * imbalance, sent["seconds"], most["messages"], most["bytes"],
                   most["collectives"], (most["exchange_messages"], most["exchange_cells"]))
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"{folder}: {error!r}; expected: the folder of a completed run, with its communication in summary.json") from None


def least_squares(rows, wanted):
    """x >= 0 of the least |rows x - wanted|², by one coordinate after the other."""
    n = len(rows[0])
    size = [math.sqrt(sum(row[i] ** 2 for row in rows)) or 1.0 for i in range(n)]
    normal = [[sum(row[i] * row[j] for row in rows) / size[i] / size[j] for j in range(n)] for i in range(n)]
    right = [sum(row[i] * y for row, y in zip(rows, wanted)) / size[i] for i in range(n)]
    x = [0.0] * n
    for _ in range(SWEEPS):
        moved = 0.0
        for i in range(n):
            if normal[i][i] == 0.0:
                continue
            to = max(0.0, x[i] + (right[i] - sum(normal[i][j] * x[j] for j in range(n))) / normal[i][i])
            moved = max(moved, abs(to - x[i]))
            x[i] = to
        if moved < 1e-13:
            break
    return [value / s for value, s in zip(x, size)]


@dataclass
class Machine:
    cores: int
    slow_down: float = 1.0
    latency: float = 0.0
    per_byte: float = 0.0
    reduction: float = 0.0

    def slow(self, at_work):
        if self.cores == 1:
            return self.slow_down
        return 1.0 + (self.slow_down - 1.0) * (min(max(at_work, 1), self.cores) - 1) / (self.cores - 1)

    def sent(self, run):
        return self.latency * run.messages + self.per_byte * run.bytes + self.reduction * run.calls()


def fit_at(runs, cores, slow_down):
    """The best machine of this slow-down, w of each sample, and the sum of the squares of relative errors."""
    samples = sorted({(r.deck, r.fluid) for r in runs})
    machine = Machine(cores, slow_down)
    rows = [[(r.work * machine.slow(r.at_work()) if (r.deck, r.fluid) == s else 0.0) / r.seconds for s in samples] +
            [r.messages / r.seconds, r.bytes / r.seconds, r.calls() / r.seconds] for r in runs]
    x = least_squares(rows, [1.0] * len(runs))
    machine.latency, machine.per_byte, machine.reduction = x[-3:]
    squares = sum((sum(a * b for a, b in zip(row, x)) - 1.0) ** 2 for row in rows)
    return squares, machine, dict(zip(samples, x))


def fit(runs, cores):
    low, high = 1.0, float(max(cores, 1))
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    while high - low > 1e-3:  # golden section
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if fit_at(runs, cores, a)[0] <= fit_at(runs, cores, b)[0]:
            high = b
        else:
            low = a
    return fit_at(runs, cores, 0.5 * (low + high))[1:]


def predicted(machine, like, run):
    """Seconds of a run from those of another one."""
    per_cell = max(like.seconds - machine.sent(like), 0.0) / machine.slow(like.at_work()) / like.work
    messages, size = (now / before for now, before in zip(run.exchange, like.exchange))
    sent = Run("", "", run.ranks, run.threads, 0.0, 0.0, 0.0, like.messages * messages, like.bytes * size, like.collectives, ())
    return per_cell * run.work * machine.slow(run.at_work()) + machine.sent(sent)


def table(rows):
    print(f"  {'run':40} {'ranks':>5} {'cells':>11} {'measured':>10} {'model':>10} {'off by':>8}")
    for run, seconds in rows:
        print(f"  {run.name:40} {run.ranks:5} {run.fluid:11.0f} {run.seconds:8.3f} s {seconds:8.3f} s {100 * (seconds / run.seconds - 1):+7.1f} %")


def main(words=None):
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("runs", nargs="+", metavar="RUN")
    options.add_argument("--held", nargs="*", default=[], metavar="RUN", help="predicted, not fitted")
    options.add_argument("--cores", type=int, default=0, help="that share a memory (default: most at work in a run)")
    options.add_argument("--name", default="this machine")
    options.add_argument("--out", default="machine.toml", metavar="FILE")
    given = options.parse_args(words)
    runs, held = [read(folder) for folder in given.runs], [read(folder) for folder in given.held]
    if not any(r.ranks > 1 for r in runs):
        raise SystemExit("no run has sent anything; expected: some on two ranks or more")
    cores = given.cores or max(r.at_work() for r in runs)
    machine, per_cell = fit(runs, cores)
    print("fitted")
    table([(r, per_cell[(r.deck, r.fluid)] * r.work * machine.slow(r.at_work()) + machine.sent(r)) for r in runs])
    if held:
        rows = []
        for run in held:
            likes = [r for r in runs if r.deck == run.deck and r.ranks > 1]
            if not likes:
                raise SystemExit(f"{run.name}: no fitted run of {run.deck} on two ranks or more to predict it from")
            rows.append((run, predicted(machine, max(likes, key=lambda r: r.fluid), run)))
        print("held back")
        table(rows)
        off = [abs(seconds / run.seconds - 1) for run, seconds in rows]
        print(f"  mean error {100 * sum(off) / len(off):.1f} %, largest {100 * max(off):.1f} %")
    text = (f'# Of {len(runs)} runs, by karst_machine.py.\nname = {json.dumps(given.name)}\ncores = {cores}\nslow_down = {machine.slow_down:.4g}\n'
            f"latency = {machine.latency:.4g}\nbandwidth = {1.0 / max(machine.per_byte, LEAST_COST):.4g}\nreduction = {machine.reduction:.4g}\n")
    Path(given.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites the tables of docs/performance.md from the raw output of bench/run.sh; plain Python, no packages.

    bench/tables.py [FILE... = bench/results.txt bench/results-solvers.txt bench/results-flow.txt]

A table is between `<!-- table: NAME -->` and `<!-- end of table -->`. Of repeated runs the smallest figure counts.
Tables of benchmarks that are in none of the files are not changed.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"


def sections(text):
    """Heading of each run -> texts of its repetitions."""
    out = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        name, _, body = part.partition("\n")
        out.setdefault(name, []).append(body)
    return out


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"no figure like '{pattern}' in the results:\n{text}")
    return float(found.group(1))


def least(pattern, texts):
    return min(number(pattern, t) for t in texts)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def mib(n):
    return f"{n / 2**20:.1f} MiB"


def machine(runs):
    bandwidth = ", ".join(f"{number(rf'{t} thread.*?triad ([0-9.]+)', runs['triad'][0]):.1f} GB/s on {t} thread"
                          f"{'s' if t > 1 else ''}" for t in (1, 2))
    lines = [line.split(": ", 1) for line in runs["machine"][0].strip().splitlines()]
    return table(["machine", ""], [*lines, ("memory bandwidth (triad)", bandwidth)])


def cutting(runs):
    cut = runs["cut 128 16"]
    packing, sphere = ([t.split("one sphere:")[i] for t in cut] for i in (0, 1))
    rows = [("cutting alone, packing of spheres that barely overlap", f"{least(r'together ([0-9.]+)', packing):.2f}"),
            ("cutting alone, one sphere", f"{least(r'together ([0-9.]+)', sphere):.2f}")]
    for box in (8, 16, 32):
        for threads in (1, 2):
            us = least(r"processor [0-9.]+ s: ([0-9.]+)", runs[f"geometry 128 {box} {threads}"])
            rows.append((f"whole geometry, boxes of {box}³, {threads} thread{'s' if threads > 1 else ''}", f"{us:.2f}"))
    rows = [(*row, "≤ 2", "86") for row in rows]
    return table(["µs of processor time per cut cell", "Karst", "aim", "Chombo"], rows)


def memory(runs):
    rows = []
    for name, pattern, aim in (
            ("geometry per irregular VoF [B]", r"memory +([0-9.]+) B per irregular", "≤ 400"),
            ("tables per regular VoF [B]", r"([0-9.]+) B per regular VoF", "≤ 2"),
            ("the same with halo lists and exchange plans [B]", r"([0-9.]+) with halo lists", ""),
            ("values stored per fluid cell of a field", r"([0-9.]+) slots per fluid cell", "≤ 1.4"),
            ("all of the geometry per fluid cell [B]", r"([0-9.]+) B per fluid cell in all", "")):
        rows.append((name, *(f"{least(pattern, runs[f'geometry 128 {box} 1']):.4g}" for box in (8, 16, 32)), aim))
    return table(["packing, 128³ cells", "boxes of 8³", "16³", "32³", "aim"], rows)


def large(runs):
    rows = []
    for threads in (1, 2):
        text = runs[f"geometry 256 16 {threads}"][0]
        peak = re.search(r"peak resident set (.*)", text).group(1)
        rows.append((threads, f"{number(r'time +([0-9.]+) s', text):.1f} s", f"{number(r'processor ([0-9.]+) s', text):.1f} s",
                     peak, f"{int(number(r'([0-9]+) VoFs', text)):,}".replace(",", " "),
                     f"{int(number(r'([0-9]+) irregular', text)):,}".replace(",", " ")))
    return table(["threads", "time", "processor time", "peak memory of the process", "VoFs", "irregular"], rows)


def savings(runs):
    rows = []
    for name in ("packing", "ketton", "berea"):
        for box in (8, 16, 32):
            if f"file {name} {box}" not in runs:
                continue
            s = json.loads(runs[f"file {name} {box}"][0])
            level, plot = s["levels"][0], s["plotfile"]
            cells = level["cells"][0] * level["cells"][1] * level["cells"][2]
            fluid, slots = level["fluid"], level["slots"]
            pruned = level["boxes_pruned"] / (level["boxes"] + level["boxes_pruned"])
            rows.append((name, box, f"{s['porosity']:.3f}", f"{100 * pruned:.0f} %", f"{100 * (1 - fluid / cells):.0f} %",
                         f"{slots / fluid:.2f}", f"{mib(8 * slots)} / {mib(8 * cells)}", f"{100 * slots / cells:.0f} %",
                         f"{mib(plot['bytes'])} / {mib(plot['dense_values_bytes'])}",
                         f"{100 * plot['bytes'] / plot['dense_values_bytes']:.0f} %"))
    return table(["case", "box", "porosity", "boxes that do not exist", "cells without memory", "values per fluid cell",
                  "one field / dense", "", "plotfile / dense values", ""], rows)


def sweep(runs):
    rows = []
    for name in (n for n in runs if n.startswith("sweep ")):
        text = runs[name][0]
        row = [name.removeprefix("sweep ")]
        for threads in (1, 2):
            line = re.search(rf"^{threads} thread.*$", text, re.M).group(0)
            plain, real = number(r"list ([0-9.]+)", line), number(r"rows ([0-9.]+)", line)
            row += [f"{plain:.2f}", f"{real:.2f}", f"{100 * (real / plain - 1):+.0f} %"]
        rows.append(row)
    return table(["ns per fluid cell", "1 thread: list", "Karst", "", "2 threads: list", "Karst", ""], rows)


def layout(runs):
    return "```\n" + runs["layout"][0].strip() + "\n```"


def imports(runs):
    rows = []
    for kind in ("gray", "segmented"):
        text = "".join(runs[f"import {kind} 256"])
        copy = number(r"copy ([0-9.]+) MB/s", text)
        for found in re.finditer(r"voxels (\S+) \S+ ranks (\d+) threads (\d+): ([0-9.]+) s, processor ([0-9.]+) s: "
                                 r"([0-9.]+) MB/s, import/copy ([0-9.]+), peak ([0-9.]+) B/voxel, file ([0-9.]+)", text):
            size, ranks, threads, seconds, work, speed, ratio, peak, file = found.groups()
            voxels = int(size.split("^")[0]) ** 3
            rows.append((f"{kind}, {size.replace('^3', '³')}", f"{ranks} × {threads}", seconds, speed, f"{copy:.0f}", ratio,
                         f"{1e9 * float(work) / voxels:.0f}", peak, file))
    return table(["8-bit image", "ranks × threads", "s", "MB/s", "copy, MB/s", "time / copy", "processor ns per voxel",
                  "peak B per voxel", "file B per voxel"], rows)


WALLS = ("Neumann", "Dirichlet")
WAYS = {"graph": "graph multigrid", "gamg": "GAMG", "hypre": "BoomerAMG"}


def elliptic(runs, shape, n, ranks=1, threads=1):
    """(walls, way) -> figures of bench_elliptic; None when it was not run."""
    name = f"elliptic {shape} {n} {ranks} {threads}"
    if name not in runs:
        return None
    out = {}
    for part in re.split(r"^(?=(?:Neumann|Dirichlet) walls)", runs[name][0], flags=re.M)[1:]:
        walls = part.split()[0]
        head = {"cells": number(r"walls: ([0-9]+) cells", part), "irregular": number(r"cells, ([0-9.]+) % irr", part),
                "operator": re.search(r"operator (\S+) / (\S+) ns", part).groups()}
        for found in re.finditer(r"^  (\w+): (\d+) iterations.*?set-up (\S+) / (\S+), solve (\S+) / (\S+); "
                                 r"peak \+ (\S+), in all (\S+) bytes.*\n +bytes per cell: (.*),", part, re.M):
            way, its, setup, setup_cpu, solve, solve_cpu, grown, total, memory = found.groups()
            out[walls, way] = {**head, "iterations": its, "wall": (float(setup), float(solve)),
                               "cpu": (float(setup_cpu), float(solve_cpu)), "grown": grown, "total": total,
                               "memory": {k: float(v) for k, v in (m.split() for m in memory.split(", "))}}
    return out


def largest_packing(runs):
    """Cells per direction of the packing that all preconditioners were timed on."""
    return max(int(n.split()[2]) for n in runs if re.match(r"elliptic packing \d+ 2 1$", n))


def iterations(runs):
    n = largest_packing(runs)
    cases = [(f"packing, {k}³", elliptic(runs, "packing", k, 1, t)) for k, t in ((32, 1), (64, 1), (n, 1), (2 * n, 2))]
    cases.append(("crossing fractures, 64³", elliptic(runs, "fractures", 64)))
    rows = []
    for name, case in cases:
        if case is None or name in (r[0] for r in rows):
            continue
        cells = int(next(iter(case.values()))["cells"])
        rows.append((name, f"{cells:,}".replace(",", " "),
                     *(case.get((walls, way), {}).get("iterations", "") for walls in WALLS for way in WAYS)))
    return table(["", "unknowns", *(f"{walls} walls: {name}" for walls in WALLS for name in WAYS.values())], rows)


def solver_times(runs):
    n = largest_packing(runs)
    rows = []
    for ranks, threads, clock in ((1, 1, "cpu"), (1, 2, "wall"), (2, 1, "wall")):
        case = elliptic(runs, "packing", n, ranks, threads)
        for walls in WALLS:
            own = sum(case[walls, "graph"][clock])
            best = min((sum(case[walls, way][clock]) for way in WAYS if way != "graph" and (walls, way) in case), default=None)
            for way, name in WAYS.items():
                if (walls, way) not in case:
                    continue
                setup, solve = case[walls, way][clock]
                ratio = f"**{best / own:.1f}**" if way == "graph" and best else ""
                rows.append((f"{ranks} × {threads}", walls, name, case[walls, way]["iterations"], f"{setup:.0f}",
                             f"{solve:.0f}", f"{setup + solve:.0f}", ratio))
    return table(["ranks × threads", "walls", "preconditioner", "iterations", "set-up", "solve", "both",
                  "best PETSc / graph multigrid"], rows)


def solver_memory(runs):
    n = largest_packing(runs)
    empty = elliptic(runs, "empty", 64)["Neumann", "graph"]["memory"]
    rows = []
    for k in (n, 2 * n):
        case = elliptic(runs, "packing", k, 1, 2)  # the runs without PETSc's, which would raise the peak
        for walls in WALLS:  # one process: the peak of the second includes that of the first
            got = case[walls, "graph"]
            share = 0.01 * got["irregular"]
            all_now, regular = sum(got["memory"].values()), sum(empty.values())
            rows.append((f"{k}³, {walls}", f"{got['memory']['geometry'] + got['memory']['connectivity']:.0f}",
                         f"{got['memory']['stencils']:.0f}", f"{got['memory']['solver'] + got['memory']['buffers']:.0f}",
                         f"{all_now:.0f}", got["total"], f"{regular:.0f}", f"{(all_now - (1 - share) * regular) / share:.0f}"))
    return table(["packing", "geometry", "stencils", "solver", "arena in all", "peak of the process", "per regular cell",
                  "per irregular cell"], rows)


def operator(runs):
    rows = []
    for threads in (1, 2):
        text = runs[f"operator {threads}"][0]
        triad = number(r"triad ([0-9.]+)", text)
        for found in re.finditer(r"([0-9.]+) % irregular, (\w+) *: ([0-9.]+) ns per cell \(([0-9.]+) x\), +([0-9.]+) GB/s.*?"
                                 r"\( *([0-9]+) %", text):
            irregular, walls, ns, ratio, speed, share = found.groups()
            rows.append((threads, f"{triad:.1f}", f"{irregular} %", walls, ns, ratio, speed, f"{share} %"))
    return table(["threads", "triad, GB/s", "irregular cells", "walls", "ns per cell", "slow-down", "GB/s",
                  "of the triad"], rows)


def solver_machine(runs):
    return machine(runs)


def flow_machine(runs):
    return machine(runs)


def stokes(runs):
    rows = []
    for name, (text, *_) in runs.items():
        found = re.match(r"stokes (\d+) (\d+) (\d+)$", name)
        if not found:
            continue
        n, ranks, threads = map(int, found.groups())
        rows.append((f"{n}³", f"{ranks} × {threads}", f"{number(r'([0-9.e+]+) flow cells', text):,.0f}".replace(",", " "),
                     f"{number(r'geometry ([0-9]+)', text):.0f}", f"{number(r'set-up ([0-9]+)', text):.0f}",
                     f"{number(r'solve ([0-9]+) ', text):.0f}", f"{number(r'solve [0-9]+ .([0-9]+) it', text):.0f}",
                     f"{number(r'Poisson solve: ([0-9]+) ns', text):.0f}", number(r"Stokes / Poisson ([0-9.]+)", text),
                     f"{number(r'([0-9]+) bytes per flow cell', text):.0f}"))
    return table(["packing", "ranks × threads", "flow cells", "geometry, ns", "set-up, ns", "solve, ns", "iterations",
                  "Poisson, ns", "Stokes / Poisson", "bytes, without the geometry"], rows)


def rocks(runs):
    rows = []
    for name, (text, *_) in runs.items():
        found = re.match(r"permeability (\w+) (\d+) (\d+)$", name)
        if not found:
            continue
        s = json.loads(text)
        axis = s["flow"][0]["axis"]
        k = s["permeability_m2"]["xyz".index(axis)]["xyz".index(axis)]
        seconds = s["seconds"]
        cells, solve = s["cells"]["fluid"], s["solves"][0]
        rows.append((f"{found[1].capitalize()}, {axis}", f"{found[2]} × {found[3]}", f"{cells:,}".replace(",", " "),
                     f"**{s['process']:.1f} s**", f"{seconds['geometry']:.2f} s", f"{seconds['setup']:.2f} s",
                     f"{seconds['solve']:.2f} s", solve["iterations"], f"{k:.5g}", f"{k / 5.3e-6**2:.4f}",
                     f"{s['memory']['peak_bytes'] / cells:.0f}"))
    if not rows:
        return "The images of rocks were not there."
    return table(["sample, axis", "ranks × threads", "fluid cells", "whole process", "geometry", "set-up", "solve",
                  "iterations", "permeability, m²", "in voxels²", "peak bytes per fluid cell"], rows)


FLOW_TABLES = {f.__name__: f for f in (flow_machine, stokes, rocks)}
SOLVER_TABLES = {f.__name__: f for f in (solver_machine, iterations, solver_times, solver_memory, operator)}
TABLES = {f.__name__: f for f in (machine, cutting, memory, large, savings, sweep, layout, imports)}


def rewrite(page, name, text):
    begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
    before, found, rest = page.partition(begin)
    if not found:
        sys.exit(f"{PAGE} has no place '{begin.strip()}'")
    return f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}"


def main():
    bench = ROOT / "bench"
    files = [Path(f) for f in sys.argv[1:]] or [f for f in [bench / f"results{part}.txt" for part in ("", "-solvers", "-flow")] if f.exists()]
    if not files or not all(f.exists() for f in files):
        sys.exit(f"{' '.join(map(str, files)) or bench / 'results.txt'}: no such file; make it with bench/run.sh")
    page = PAGE.read_text()
    for file in files:
        runs = sections(file.read_text())
        has = {name.split()[0] for name in runs}
        tables = SOLVER_TABLES if "elliptic" in has else FLOW_TABLES if "stokes" in has else TABLES
        for name, make in tables.items():
            page = rewrite(page, name, make(runs))
    PAGE.write_text(page)
    print(f"rewrote tables of {PAGE.relative_to(ROOT)} from {', '.join(f.name for f in files)}")


if __name__ == "__main__":
    main()

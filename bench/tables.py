#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites the tables of docs/performance.md from the raw output of bench/run.sh; plain Python, no packages.

    bench/tables.py [FILE = bench/results.txt]

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`. Of repeated runs the smallest figure counts.
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


TABLES = {f.__name__: f for f in (machine, cutting, memory, large, savings, sweep, layout, imports)}


def main():
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bench" / "results.txt"
    if not results.exists():
        sys.exit(f"{results} does not exist; make it with bench/run.sh")
    runs = sections(results.read_text())
    page = PAGE.read_text()
    for name, make in TABLES.items():
        begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
        before, found, rest = page.partition(begin)
        if not found:
            sys.exit(f"{PAGE} has no place '{begin.strip()}'")
        page = f"{before}{begin}\n{make(runs)}\n\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page)
    print(f"rewrote the tables of {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

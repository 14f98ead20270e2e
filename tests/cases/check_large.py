#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst check` of 5000³ cells of a packing takes seconds, and as little memory as for a small run; `karst run` rejects what
does not fit into memory before it writes anything. With --image N: also an image of N³ voxels.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from support import Karst, parser, sphere_image

MOST_BYTES = 500e6
MOST_SECONDS = 10.0
UNITS = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40, "PiB": 2.0**50}

DECK = """
[[geometry.solid]]
shape = "spheres"
file = "packing.txt"
columns = "x y z r"
skip_lines = 2
scale = 1e-3
[grid]
cells = [{n}, {n}, {n}]
size = [1e-3, 1e-3, 1e-3]
periodic = [true, true, true]
[flow]
model = "stokes"
drive = "pressure-gradient"
axes = ["x"]
"""


def measured(karst, words, folder):
    """Status, text, processor and wall-clock seconds, and largest resident set [bytes] of a program of one thread."""
    start = time.monotonic()
    with subprocess.Popen(karst.command(words), cwd=folder, env=karst.environment(1), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (process.returncode, text, usage.ru_utime + usage.ru_stime, time.monotonic() - start, 1024.0 * usage.ru_maxrss)


def estimated_peak(text):
    found = re.search(r"^  peak: .*?([\d.]+) (\w+) +[\d.]+ \w+$", text, re.MULTILINE)
    return float(found[1]) * UNITS[found[2]] if found else None


def too_much(what, seconds, resident):
    if seconds > MOST_SECONDS:
        yield f"{what}: {seconds:.1f} s of processor time; at most {MOST_SECONDS:g} are allowed"
    if resident > MOST_BYTES:
        yield f"{what}: {resident / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:g} are allowed"


def large_packing(karst, folder):
    (folder / "large.toml").write_text(DECK.format(n=5000), encoding="utf-8")
    status, text, seconds, wall, resident = measured(karst, ["check", "large.toml"], folder)
    print(f"karst check of 5000³ cells: {wall:.1f} s ({seconds:.1f} s of processor time), {resident / 1e6:.0f} MB")
    yield from too_much("karst check of 5000³ cells", seconds, resident)
    if status != 0 or "What would fit: grid.cells" not in text:
        yield f"karst check of 5000³ cells: status {status}\n{text}"
    porosity = re.search(r"porosity +([\d.]+)", text)
    if not porosity or abs(float(porosity[1]) - 0.42) > 0.02:  # that of the packing: inputs/spheres/README.md
        yield f"porosity {porosity and porosity[1]}, wanted 0.42"
    for command in ("run", "geometry"):
        status, text, _, _, _ = measured(karst, [command, "large.toml", "--out", "out"], folder)
        if status == 0 or "What would fit" not in text or "--force" not in text:
            yield f"karst {command} of 5000³ cells ends with status {status} and\n{text}"
    if (folder / "out").exists():
        yield "a refused run leaves its folder behind"


def plan(karst, folder):
    """For ranks that are not there; and for an image whose boxes cannot be looked at yet."""
    (folder / "plan.toml").write_text(DECK.format(n=500), encoding="utf-8")
    status, text, seconds, _, resident = measured(karst, ["check", "plan.toml", "--ranks", "5000"], folder)
    yield from too_much("a plan for 5000 ranks", seconds, resident)
    rows = {name: found and [float(x.replace(" ", "")) for x in found.groups()] for name, found in (
        (name, re.search(rf"^  {name}.*? +([\d.e+]+) +([\d.e+]+) +([\d.e+]+)$", text, re.MULTILINE))
        for name in ("boxes", "messages of an exchange", "  cells sent / own cells"))}
    plan_of = re.search(r"Plan for ([\d ]+) ranks, ([\d ]+) boxes", text)
    if status != 0 or not plan_of or not all(rows.values()):
        yield f"a plan for 5000 ranks: status {status}\n{text}"
        return
    ranks, boxes = (int(x.replace(" ", "")) for x in plan_of.groups())
    least, mean, most = rows["boxes"]
    if ranks != 5000 or abs(mean - boxes / ranks) > 0.001 * mean or not 1 <= least <= mean <= most:
        yield f"a plan of {ranks} ranks: {least}, {mean}, {most} of {boxes} boxes"
    if "Memory, estimated for 5 000 ranks" not in text or "Time, estimated for 5 000 ranks" not in text or "does not fit" in text:
        yield f"a plan for 5000 ranks tells of others\n{text}"
    n = 160  # 4.1 million voxels: a check looks at blocks
    (folder / "image.raw").write_bytes(sphere_image(n, 60))
    (folder / "image.toml").write_text(
        f'[geometry]\nimage = "image.raw"\n[geometry.import]\nsize = [{n}, {n}, {n}]\ntype = "uint8"\nvoxel = "1 um"\npore = 0\n'
        '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n', encoding="utf-8")
    status, text, _, _, _ = measured(karst, ["check", "image.toml", "--ranks", "10"], folder)
    if status != 1 or "image.raw is not imported yet" not in text or "karst import" not in text:
        yield f"a plan of an image that is not imported: status {status}\n{text}"


def small_run(karst, folder):
    """64³ cells, of which the program itself is a third."""
    (folder / "small.toml").write_text(DECK.format(n=64), encoding="utf-8")
    status, text, _, _, _ = measured(karst, ["check", "small.toml"], folder)
    estimate = estimated_peak(text)
    run = measured(karst, ["run", "small.toml", "--out", "out"], folder)
    if status != 0 or estimate is None or run[0] != 0:
        yield f"64³ cells: check ends with status {status}, the run with {run[0]}\n{text}\n{run[1]}"
        return
    peak = json.loads((folder / "out/summary.json").read_text())["memory"]["peak_bytes"]
    print(f"64³ cells: {estimate / 2**20:.0f} MiB estimated, {peak / 2**20:.0f} MiB measured")
    if abs(estimate / peak - 1.0) > 0.2:
        yield f"64³ cells: {estimate / 2**20:.0f} MiB estimated, {peak / 2**20:.0f} MiB measured"


def large_image(karst, folder, voxels):
    """A geometry file of rods, one in the middle of every 32 x 32 voxels: its chunks are all one and the same, and
    deflate to 1 %."""
    import h5py  # only this needs them
    import numpy as np
    radius, n = 14.0, 32
    x = np.arange(n) + 0.5 - n / 2
    rod = np.sqrt(x[:, None]**2 + x[None, :]**2) - radius
    phi = np.ascontiguousarray(np.broadcast_to(np.round(64 * rod) / 64, (n, n, n)).astype("<f4"))
    packed = zlib.compress(phi.tobytes(), 4)
    chunks = -(-voxels // n)
    with h5py.File(folder / "large.h5", "w") as file:
        data = file.create_dataset("level_set", (voxels, ) * 3, "<f4", chunks=(n, ) * 3, compression="gzip")
        for i in range(chunks**3):
            at = (i // chunks**2 * n, i // chunks % chunks * n, i % chunks * n)
            data.id.write_direct_chunk(at, packed)
        file.create_dataset("phase", (voxels, ) * 3, "u1", chunks=(n, ) * 3, compression="gzip")
        porosity = 1 - np.pi * radius**2 / n**2
        file.attrs["karst_geometry"] = np.int32(1)
        for key, value in {"voxel": 1e-6, "porosity": porosity, "level_set_porosity": porosity, "steepest": 2.0,
                           "threshold": float("nan")}.items():
            file.attrs[key] = value
        file.attrs["provenance"] = np.bytes_(b'{"warnings": []}')
    (folder / "image.toml").write_text('[geometry]\nimage = "large.h5"\n[flow]\nmodel = "stokes"\n'
                                       'drive = "pressure-drop"\naxes = ["x"]\n', encoding="utf-8")
    status, text, seconds, wall, resident = measured(karst, ["check", "image.toml"], folder)
    print(f"karst check of {voxels}³ voxels: {wall:.1f} s ({seconds:.1f} s of processor time), {resident / 1e6:.0f} MB")
    yield from too_much(f"karst check of {voxels}³ voxels", seconds, resident)
    found = re.search(r"fluid cells +([\d ]+)", text)
    fluid = float(found[1].replace(" ", "")) if found else 0.0
    if status != 0 or abs(fluid / (porosity * voxels**3) - 1) > 0.05:
        yield f"{voxels}³ voxels: status {status}, {fluid:g} fluid cells, wanted {porosity * voxels**3:g}\n{text}"


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--packing", required=True, type=Path)
    arguments.add_argument("--image", type=int, help="voxels per direction; needs h5py")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "packing.txt").write_text(options.packing.read_text(encoding="utf-8"), encoding="utf-8")
        wrong = [*large_packing(karst, folder), *plan(karst, folder), *small_run(karst, folder)]
        if options.image:
            wrong += large_image(karst, folder, options.image)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

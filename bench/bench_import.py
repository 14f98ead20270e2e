#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of `karst import` against a plain copy of the same file; plain Python, no packages.

    bench_import.py BUILD N [--threads 1,2] [--ranks 1,2] [--segmented]

The image has N^3 voxels of 8 bit: a generated packing of 256^3 (128^3 when N is smaller), repeated. One line per run:
MB/s of image, ratio to the copy, peak memory per voxel summed over the ranks. Needs N^3 bytes of disk three times.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
                   OPENBLAS_NUM_THREADS="1")


def tiled(source, n, repeats, target):
    """Writes the image of n^3 bytes repeated `repeats` times along each axis."""
    with open(source, "rb") as image, open(target, "wb") as out:
        for _ in range(repeats):
            image.seek(0)
            for _ in range(n):
                plane = image.read(n * n)
                rows = b"".join(plane[y * n:(y + 1) * n] * repeats for y in range(n))
                out.write(rows * repeats)


def processor_seconds():
    """Of all processes started so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def copy_seconds(source, target):
    start = time.perf_counter()
    with open(source, "rb") as a, open(target, "wb") as b:
        while block := a.read(1 << 24):
            b.write(block)
    seconds = time.perf_counter() - start
    os.remove(target)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("n", type=int)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--segmented", action="store_true", help="the image holds 0 and 1")
    o = parser.parse_args()
    tile = 256 if o.n % 256 == 0 else 128
    if o.n % tile:
        sys.exit(f"{o.n} voxels: a multiple of 128 is needed")
    runs = [(1, int(t)) for t in o.threads.split(",")] + [(int(r), 1) for r in o.ranks.split(",") if int(r) > 1]
    with tempfile.TemporaryDirectory(prefix="karst_import_") as folder:
        image, small = Path(folder, "image.raw"), Path(folder, "small.raw")
        gray = Path(folder, "gray.raw") if o.segmented else small
        arguments = ["-o", gray, "--size", tile, "--radius", 12, "--porosity", 0.35, "--ring", 0]
        if o.segmented:
            arguments += ["--labels", small]
        subprocess.run([o.build / "karst-make-image", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
        tiled(small, tile, o.n // tile, image)
        megabytes = 1e-6 * o.n**3
        copy = min(copy_seconds(image, Path(folder, "copy")) for _ in range(3))
        print(f"copy {megabytes / copy:.0f} MB/s")
        for ranks, threads in runs:
            command = [o.build / "karst", "import", image, "-o", Path(folder, "rock.h5"), "--overwrite", "--size",
                       f"{o.n},{o.n},{o.n}", "--type", "uint8", "--voxel", 2e-6, "-j", threads, "--json",
                       Path(folder, "report.json")]
            if o.segmented:
                command += ["--pore", 0]
            if ranks > 1:
                command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, *command]
            start, work = time.perf_counter(), processor_seconds()
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
            seconds, work = time.perf_counter() - start, processor_seconds() - work
            report = json.loads(Path(folder, "report.json").read_text())
            print(f"voxels {o.n}^3 {'segmented' if o.segmented else 'gray'} ranks {ranks} threads {threads}: "
                  f"{seconds:.2f} s, processor {work:.2f} s: {megabytes / seconds:.1f} MB/s, import/copy {seconds / copy:.1f}, "
                  f"peak {report['memory_peak_bytes'] / o.n**3:.2f} B/voxel, "
                  f"file {Path(folder, 'rock.h5').stat().st_size / o.n**3:.2f} B/voxel")


if __name__ == "__main__":
    main()

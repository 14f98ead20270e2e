#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Output that cannot be written ends a run with one message of Karst and a status other than 0.

    output_ends.py --program KARST --mpiexec MPIEXEC

A full device, a reader that closed its pipe (`karst run | head -1`: no message, as for other programs), files above a limit, a
folder removed during the run, and too little memory. No internal message of MPI, PETSc or HDF5 may appear.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support import parser, sphere_deck

FOREIGN = ["PETSC", "MPI_ABORT", "Process received signal", "mca_", "LOG ERROR", "terminate called", "std::"]
STOKES = '\n[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n'
failures = []


def check(name, good, text):
    foreign = [word for word in FOREIGN if word in text]
    if good and not foreign:
        print(f"{name}: as wanted")
        return
    failures.append(name)
    print(f"{name}: WRONG {foreign}\n{text}")


def run(program, arguments, folder, output=subprocess.PIPE, limits=()):
    def limit():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))

    return subprocess.run([program, *arguments], cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60,
                          preexec_fn=limit, env=os.environ | {"OMP_NUM_THREADS": "1"})


def full_device(program, folder):
    with open("/dev/full", "w") as full:
        for arguments in (["help"], ["check", "deck.toml"], ["run", "deck.toml", "--overwrite"]):
            done = run(program, arguments, folder, full)
            check(f"full device, {arguments[0]}", done.returncode == 1 and "error: standard output cannot be written" in done.stderr,
                  done.stderr)


def reader_gone(program, folder):
    """The reader is gone before the first line: no matter how fast both are."""
    for arguments in (["help"], ["run", "deck.toml", "--overwrite"]):
        read, write = os.pipe()
        os.close(read)
        done = run(program, arguments, folder, write)
        os.close(write)
        check(f"reader gone, {arguments[0]}", done.returncode != 0 and done.stderr.count("\n") <= 1, done.stderr)


def reader_goes(program, folder):
    """After the first line: what the check of an image has imported for itself goes, too."""
    voxels = bytes((x // 4 + y // 4 + z // 4) % 2 for z in range(16) for y in range(16) for x in range(16))
    (folder / "image.raw").write_bytes(voxels)
    image = ["image.raw", "--size", "16x16x16", "--type", "uint8", "--voxel", "1um", "--pore", "0"]
    temporary = folder / "temporary"
    temporary.mkdir()
    process = subprocess.Popen([program, "check", *image], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(temporary)})
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    left = [p.name for p in temporary.rglob("*.h5")]
    check("reader goes after a line, check", process.wait(timeout=60) != 0 and "error" not in errors and not left,
          f"{errors}{left}")


def files_limited(program, folder):
    shutil.rmtree(folder / "out", ignore_errors=True)
    for kilobytes in (1, 8, 20, 60):
        done = run(program, ["run", "deck.toml"], folder, limits=[(resource.RLIMIT_FSIZE, kilobytes << 10)])
        check(f"files up to {kilobytes} KiB", done.returncode == 1 and done.stderr.count("error:") == 1
              and "File too large" in done.stderr, done.stderr)
        summary = folder / "out" / "summary.json"
        check(f"files up to {kilobytes} KiB: nothing that looks complete",
              not summary.exists() or json.loads(summary.read_text())["status"] == "failed", "summary.json is there")


def little_memory(program, folder):
    """An import says how large an image would do."""
    with open(folder / "large.raw", "wb") as image:
        image.write(bytes([1]) * 400 ** 2 * 200)
        image.truncate(400 ** 3)
    done = run(program, ["import", "large.raw", "-o", "large.h5", "--size", "400x400x400", "--type", "uint8", "--voxel", "1um",
                         "--pore", "1", "-j", "1"], folder, limits=[(resource.RLIMIT_AS, 340 << 20)])
    check("little memory, import", done.returncode == 1 and done.stderr.count("error:") == 1 and "large.raw" in done.stderr
          and "out of memory" in done.stderr and "is enough for" in done.stderr and "--crop_high" in done.stderr, done.stderr)


def folder_removed(program, folder):
    deck = (folder / "deck.toml").read_text().replace('directory = "out"', 'directory = "gone"')
    (folder / "slow.toml").write_text(deck.replace("[16, 16, 16]", "[64, 64, 64]"))
    process = subprocess.Popen([program, "run", "slow.toml"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.time() + 60
    # Not earlier: the log's library makes the folders of its file, also those that have gone.
    while not (folder / "gone" / "karst-unfinished" / "log.txt").exists() and time.time() < end:
        time.sleep(0.002)
    # At once: the run goes on making files, and a folder that is emptied name by name may stay for one of them.
    (folder / "gone").rename(folder / "moved")
    _, errors = process.communicate(timeout=60)
    check("folder removed", process.returncode == 1 and errors.count("error:") == 1 and "gone" in errors, errors)


def main():
    arguments = parser(__doc__).parse_args()
    program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory(prefix="karst_output_") as name:
        folder = Path(name)
        (folder / "deck.toml").write_text(sphere_deck() + STOKES + '[output]\ndirectory = "out"\n')
        for test in (full_device, reader_gone, reader_goes, files_limited, little_memory, folder_removed):
            test(program, folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Runs the karst program for the tests of this folder; plain Python, no packages."""
import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HANGING = 600.0  # no run of a case takes a tenth of it [s]: who takes longer hangs, however slow or busy the machine


def parser(doc, generator=False):
    """Of a case: the programs it runs. The case adds what it knows beside."""
    arguments = argparse.ArgumentParser(description=doc.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--mpiexec", required=True)
    if generator:
        arguments.add_argument("--generator", required=True, type=lambda path: Path(path).resolve())
        arguments.add_argument("--table", action="store_true", help="print all cases of docs/verification.md")
    return arguments


class Checks:
    """What a case asserts: a line for each, and the exit status of the case."""

    def __init__(self):
        self.failed = 0

    def __call__(self, name, good, what=""):
        self.failed += not good
        print("passed" if good else "FAILED", name, "" if good else what, flush=True)

    def problems(self, name, problems):
        """Nothing is wrong."""
        self.failed += bool(problems)
        print("FAILED" if problems else "passed", name, "; ".join(problems), flush=True)

    @property
    def status(self):
        return 1 if self.failed else 0


@contextlib.contextmanager
def program_and_folder(options):
    """The program and a folder for its runs."""
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        yield Karst(options.program, options.mpiexec), Path(place)


class Result:
    def __init__(self, done, seconds):
        self.status, self.out, self.err, self.seconds = done.returncode, done.stdout, done.stderr, seconds

    def __str__(self):
        return f"status {self.status} after {self.seconds:.1f} s\n--- stdout\n{self.out}--- stderr\n{self.err}---"


class Karst:
    """The program under a number of ranks: one rank runs without mpirun, as on a laptop."""

    def __init__(self, program, mpiexec):
        self.program, self.mpiexec = str(Path(program).resolve()), mpiexec

    def command(self, arguments, ranks=1):
        command = [self.program, *map(str, arguments)]
        if ranks > 1:
            command = [self.mpiexec, "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]
        return command

    @staticmethod
    def environment(threads):
        # Ranks that wait leave the processor to others: on a busy machine two of them take a fifth of the time so. What a run spends
        # on its start is halved: it need not start anew to shorten the spinning, and MPI does not search for network cards.
        return dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                    OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1", GOMP_SPINCOUNT="1000", HWLOC_COMPONENTS="-pci,-opencl,-gl")

    def run(self, arguments, cwd, ranks=1, threads=1, variables=None):
        start = time.monotonic()
        asleep = {"LD_PRELOAD": os.environ["KARST_TEST_REST"]} if ranks > 1 and "KARST_TEST_REST" in os.environ else {}
        done = subprocess.run(self.command(arguments, ranks), cwd=cwd, env={**self.environment(threads), **asleep, **(variables or {})},
                              capture_output=True, text=True, timeout=HANGING)
        return Result(done, time.monotonic() - start)


def data_folder():
    """Of the images that are not part of the repository."""
    given = os.environ.get("KARST_TEST_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / ".." / "shared" / "data"


def phreeqcrm():
    """The Python package; without it the test is skipped."""
    try:
        return importlib.import_module("phreeqcrm")
    except ImportError:
        print("skipped: the Python package phreeqcrm is missing; tools/test.sh --nightly installs it")
        sys.exit(77)


def contents(folder):
    """All files below a folder with their bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
            for p in sorted(Path(folder).rglob("*")) if not p.is_symlink()}


def older_results(folder, *names):
    """What a run of an earlier day left there."""
    folder.mkdir()
    for name in names:
        (folder / name).write_text("older")
    (folder / "summary.json").write_text(json.dumps({"karst": "older", "files": sorted([*names, "summary.json"])}))


def sphere_image(n, radius, solid=1, pore=0):
    """A raw 8-bit image, x fastest: a solid ball (radius in voxels) in the middle of a cube of n³ voxels."""
    centre = n / 2
    return bytes(solid if (x + .5 - centre) ** 2 + (y + .5 - centre) ** 2 + (z + .5 - centre) ** 2 < radius ** 2 else pore
                 for z in range(n) for y in range(n) for x in range(n))


def image_deck(image, size, voxel):
    """A raw 8-bit image of voxels of this width; lines about its values may follow."""
    return f"""[geometry]
image = "{image}"
[geometry.import]
size = {list(size)}
type = "uint8"
voxel = {voxel}
"""


# Water that a sudden pressure drop moves.
PUSHED = """[fluid]
viscosity = 1e-3
[flow]
model = "navier-stokes"
axes = ["x"]
drive = "pressure-drop"
pressure_drop = 2
"""


def sphere_deck(cells=16, radius=0.3, box=8):
    """A solid ball in the middle of a millimetre cube."""
    return f"""title = "ball"
[geometry]
keep = "all"
[[geometry.solid]]
shape = "sphere"
center = [0.5e-3, 0.5e-3, 0.5e-3]
radius = {radius}e-3
[grid]
cells = [{cells}, {cells}, {cells}]
size = [1e-3, 1e-3, 1e-3]
box = {box}
"""

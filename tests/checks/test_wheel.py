# SPDX-License-Identifier: BSD-3-Clause
"""The wheel with the program, installed in a fresh environment: nothing of the system's libraries is used, and it runs.

usage: test_wheel.py [WHEEL]   (default: builds it, tools/build_wheel.sh --program)
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHEEL = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
MOST_BYTES = 80e6
SPHERES = ["-o", "rock.tif", "--size", "20", "--radius", "5", "--voxel", "5.3e-6"]
STUDY = 'deck = "deck.toml"\ndirectory = "study"\n[[vary]]\nkey = "grid.box"\nvalues = [8, 16]\n'


def call(*words, status=0, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == status, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout + done.stderr


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        if WHEEL is None:
            call(ROOT / "tools/build_wheel.sh", "--program", cls.folder)
        cls.wheel = WHEEL or next(cls.folder.glob("karst-*manylinux*.whl"))
        call(sys.executable, "-m", "venv", cls.folder / "venv")
        call(cls.folder / "venv/bin/python", "-m", "pip", "install", "--quiet", cls.wheel)
        # Nothing but Python and a shell: no mpirun, no Karst. What others set for their libraries must not reach the program.
        cls.options = {"cwd": cls.folder, "env": {"PATH": f"{cls.folder}/venv/bin:/usr/bin:/bin", "HOME": str(cls.folder), "LD_LIBRARY_PATH": "/nowhere",
                                                 "OPAL_PREFIX": "/nowhere", "OMP_NUM_THREADS": "2"}}
        call("karst-make-image", *SPHERES, **cls.options)
        call("karst", "import", "rock.tif", "-o", "rock.h5", **cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @property
    def program(self):
        return next(self.folder.glob("venv/lib/python3*/site-packages/karst/_program"))

    def test_size_and_notices(self):
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        names = zipfile.ZipFile(self.wheel).namelist()
        for package in ("libc6", "libpetsc-real3.18", "libopenmpi3", "libumfpack5", "nlohmann-json3-dev"):
            self.assertIn(f"karst/_program/share/licenses/{package}/copyright", names)

    def test_all_libraries_are_those_of_the_wheel(self):
        lib = self.program / "lib"
        files = [lib / "karst", lib / "karst-x86-64-v3", lib / "karst-make-image", *(self.program / "mpi/plugins").glob("*.so")]
        for file in files:
            listed = call(lib / "ld-linux-x86-64.so.2", "--inhibit-cache", "--library-path", lib, "--list", file)
            self.assertEqual([line for line in listed.splitlines() if "not found" in line or ("=>" in line and str(lib) not in line)], [], file)

    def test_runs_from_the_command_line(self):
        self.assertRegex(call("karst", "--version", **self.options), r"^karst \d")
        for threads in "1", "2":
            call("karst", "run", "rock.h5", "flow.axes=x", "--out", f"out{threads}", "-j", threads, **self.options)
        k = [json.loads((self.folder / f"out{threads}/summary.json").read_text())["permeability_m2"][0][0] for threads in "12"]
        self.assertGreater(k[0], 1e-14)
        self.assertLess(abs(k[1] / k[0] - 1), 1e-9)
        # the program for all processors gives the same
        env = {**self.options["env"], "GOMP_SPINCOUNT": "1000"}
        (self.program / "libexec").rename(self.program / "aside")
        try:
            call("karst", "run", "rock.h5", "flow.axes=x", "--out", "plain", **{**self.options, "env": env})
        finally:
            (self.program / "aside").rename(self.program / "libexec")
        plain = json.loads((self.folder / "plain/summary.json").read_text())["permeability_m2"][0][0]
        self.assertLess(abs(plain / k[0] - 1), 1e-9)

    def test_databases_and_children(self):
        (self.folder / "water.toml").write_text('[[chemistry.solution]]\npH = 7\ntotals = ["Na 0.1", "Cl 0.1 charge"]\n')
        self.assertIn("Na+", call("karst", "speciate", "water.toml", **self.options))
        (self.folder / "deck.toml").write_text('[geometry]\nimage = "rock.h5"\n[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n')
        (self.folder / "study.toml").write_text(STUDY)
        self.assertIn("done", call("karst", "study", "study.toml", **self.options))

    def test_runs_from_python_without_a_path(self):
        script = "import karst; r = karst.run('rock.h5', 'mine', threads=1, flow={'axes': ['x']}); print(karst.find_program(), r.summary.status)"
        said = call(self.folder / "venv/bin/python", "-c", script, **{**self.options, "env": {"PATH": "/nowhere"}})
        self.assertIn("_program/bin/karst completed", said)

    def test_python_of_the_program_is_that_of_its_environment(self):
        python = self.folder / "venv/bin/python"
        (self.folder / "slice.dcm").write_bytes(bytes(128) + b"DICM")
        said = call(python.with_name("karst"), "import", "slice.dcm", "-o", "slice.h5", status=1, **{**self.options, "env": {"PATH": "/usr/bin:/bin"}})
        self.assertRegex(said, rf"needs the Python package pydicom: {python}[0-9.]* -m pip install")

    def test_ranks_end_with_a_message(self):
        mpirun = ["mpirun", "--oversubscribe", "-n"]  # that of the system, which does not know of the wheel
        options = {**self.options, "env": {**self.options["env"], "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}}
        del options["env"]["OPAL_PREFIX"], options["env"]["LD_LIBRARY_PATH"]
        said = call(*mpirun, 2, "karst", "run", "rock.h5", status=1, **options)
        self.assertIn("2 ranks were started, but each finds itself alone: the program of the wheel runs on one rank", said)
        self.assertRegex(call(*mpirun, 1, "karst", "--version", **options), r"^karst \d")


if __name__ == "__main__":
    unittest.main()

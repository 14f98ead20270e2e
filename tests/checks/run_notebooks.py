# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code cells of python/notebooks in order, without Jupyter, and checks their results.

usage: run_notebooks.py FOLDER_OF_THE_PROGRAMS
"""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["KARST_BUILD"] = str(Path(sys.argv.pop(1)).resolve())
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("OMP_NUM_THREADS", "1")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

NOTEBOOKS = Path(__file__).resolve().parents[2] / "python/notebooks"


def code_cells(notebook):
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def run(notebook):
    """What stands in the variables at the end."""
    variables = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        exec(compile("".join(cell["source"]), f"{notebook}.ipynb, code cell {number}", "exec"), variables)
    return variables


class Notebooks(unittest.TestCase):
    def setUp(self):
        self.before, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        plt.close("all")
        os.chdir(self.before)
        self.folder.cleanup()

    def test_permeability_of_images(self):
        found = run("permeability_of_images")
        np.testing.assert_allclose(found["porosity"], [0.3, 0.4, 0.5], atol=0.02)
        self.assertTrue((np.diff(found["permeability"]) > 0).all())
        self.assertTrue((np.abs(np.log2(found["ratio"])) < 1).all(), found["ratio"])  # Kozeny-Carman: within a factor of two
        self.assertLess((found["error"] / found["permeability"]).max(), 0.3)

    def test_convergence(self):
        found = run("convergence")
        self.assertGreater(found["order"], 1.7)
        self.assertLess(found["error"][-1], 0.003)  # of 32 cells

    def test_breakthrough(self):
        found = run("breakthrough")
        self.assertLess(abs(found["mean"] - 1), 0.05)  # of the pore volume
        own = found["tracer"].breakthrough.dispersion_m2_s
        self.assertLess(abs(found["dispersion"] / own - 1), 0.001)
        self.assertTrue((np.diff(found["table"]["tracer_mean"]) > 0).all())
        self.assertGreater(len(found["series"]), 10)

    def test_every_notebook_is_tested_and_holds_no_outputs(self):
        names = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
        self.assertEqual(names, {name.removeprefix("test_") for name in dir(self) if name.startswith("test_")} & names)
        for name in names:
            for cell in code_cells(name):
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), f"{name}: clear the outputs")


if __name__ == "__main__":
    unittest.main()

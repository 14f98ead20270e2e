# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code cells of python/notebooks in order, without Jupyter, and checks their results and the pages that the site shows of them.

usage: run_notebooks.py FOLDER_OF_THE_PROGRAMS
"""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["KARST_BUILD"] = str(Path(sys.argv.pop(1)).resolve())
os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import numpy as np  # noqa: E402
from notebook_pages import NOTEBOOKS, page_of, run  # noqa: E402


class Notebooks(unittest.TestCase):
    def setUp(self):
        self.before, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def run_all(self, name, pictures):
        """The variables at the end. The page has so many pictures."""
        cells, found = run(NOTEBOOKS / f"{name}.ipynb")
        page, files = page_of(cells, name)
        self.assertEqual(len(files), pictures)
        self.assertTrue(all(data.startswith(b"\x89PNG") and len(data) > 5000 for data in files.values()))
        self.assertTrue(all(f"]({file})" in page for file in files))
        self.assertNotIn("matplotlib.", page.replace("import matplotlib.pyplot", ""))  # no objects of plots as text
        return found

    def test_permeability(self):
        found = self.run_all("permeability", 3)
        self.assertLess(abs(found["summary"].porosity - 0.4), 0.02)
        self.assertLess(abs(np.log2(found["computed"] / found["kozeny"])), 0.5)
        finest = found["convergence"].loc[48]
        for cells, run_ in found["convergence"].iterrows():  # within the error that each run estimates
            self.assertLess(abs(run_["permeability"] - finest["permeability"]), 1.2 * run_["error"] + finest["error"], cells)

    def test_tracer(self):
        found = self.run_all("tracer", 3)
        self.assertLess(abs(found["mean"] - 1), 0.05)  # of the pore volume
        self.assertLess(abs(found["dispersion"] / found["own"] - 1), 0.001)
        self.assertTrue((np.diff(found["table"]["tracer_mean"]) > 0).all())
        self.assertEqual(found["concentration"].sizes, {"time": 20, "z": 20, "y": 20, "x": 20})
        along, across = found["tensor"]["xx"].to_numpy(), found["tensor"]["yy"].to_numpy()
        np.testing.assert_allclose(along[0], across[0], rtol=0.01)  # diffusion alone
        self.assertGreater(along[-1], 5 * across[-1])

    def test_reaction(self):
        found = self.run_all("reaction", 3)
        ratio = found["rates"]["wall.ratio_to_well_mixed"].to_numpy()
        self.assertGreater(ratio[0], 0.99)
        self.assertTrue((np.diff(ratio) < 0).all())
        evolution = found["evolution"]
        self.assertTrue((np.diff(evolution["permeability_x_m2"]) > 0).all())
        self.assertGreater(found["power"], 3)
        self.assertEqual(found["distance"].sizes["time"], 2)

    def test_study(self):
        found = self.run_all("study", 2)
        np.testing.assert_allclose(found["porosity"], np.repeat([0.3, 0.4, 0.5], 2), atol=0.02)
        self.assertTrue((np.abs(np.log2(found["permeability"] / found["kozeny"])) < 1).all())  # Kozeny-Carman: within a factor of two
        self.assertLess(found["spread"].iloc[-1], 0.3 * found["spread"].iloc[0])

    def test_every_notebook_is_tested_and_holds_no_outputs(self):
        names = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
        self.assertEqual(names, {name.removeprefix("test_") for name in dir(self) if name.startswith("test_")} & names)
        for name in names:
            for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]:
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), f"{name}: clear the outputs")


if __name__ == "__main__":
    unittest.main()

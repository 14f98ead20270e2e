# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code of docs/open-results.md, on a coarser grid than the page, and checks the results.

usage: open_results.py KARST
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import karst
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/open-results.md").read_text()
KARST = Path(sys.argv.pop(1)).resolve()
EDGES = [2e-3, 1e-3, 1e-3]  # of the domain [m], inputs/refined/refined.toml
COARSE_IN_TIME = ["grid.cells=[16,16,16]", "time.dt=2ms", "time.output=25ms", "output.slice[0].every=5ms"]
COARSER = ["grid.cells=[32,16,16]", "flow.estimate_error=false", "flow.tolerance=1e-6"]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def block(word):
    """The one block of Python with this word."""
    found = [code for code in blocks("python") if word in code]
    assert len(found) == 1, (word, len(found))
    return found[0]


class OpenResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name in ("tools", "inputs"):
            (Path(cls.folder.name) / name).symlink_to(ROOT / name)
        steady, in_time = (code.replace("build/release/karst", str(KARST)).split() for code in blocks("sh") if "karst run" in code)
        cls.call([*steady, *COARSER])
        cls.call([*in_time, *COARSE_IN_TIME])
        cls.results = Path(cls.folder.name) / "out/refined"
        cls.summary = json.loads((cls.results / "summary.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def call(cls, command):
        done = subprocess.run(command, cwd=cls.folder.name, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    @classmethod
    def code(cls, word, show):
        """Runs a block as a reader would, then prints `show` as JSON; returns its value."""
        script = f"{block(word)}\nimport json\nprint(json.dumps({show}))\n"
        return json.loads(cls.call([sys.executable, "-c", script]).splitlines()[-1])

    def test_smaller_files_are_in_their_place_and_hold_the_same(self):
        """The upper half of the duct in cells of twice the width: boxes of 16 cells of 62.5 µm."""
        self.call([KARST, "run", "inputs/refined/refined.toml", *COARSER, "--out", "out/small", "output.coarsening=2", "output.compression=6",
                   "output.region_lo=1.2mm,0.4mm,0.4mm", "output.region_hi=1.4mm,0.6mm,0.6mm"])
        path = Path(self.folder.name) / "out/small/plot.vtkhdf"
        with karst.Plotfile(path) as small, karst.Plotfile(self.results / "plot.vtkhdf") as whole:
            np.testing.assert_allclose(small.origin, [1e-3, 0, 0])
            np.testing.assert_allclose(small.size, [1e-3, 1e-3, 1e-3])
            np.testing.assert_allclose(small.spacing, 2 * whole.spacing)
            half = whole.uniform("fraction").shape[2] // 2
            fraction, all_of_it = small.uniform("fraction"), whole.uniform("fraction")[..., half:]
            self.assertAlmostEqual(float(fraction.mean()), float(all_of_it.mean()), 6)
            flow = [np.nansum(f * p[..., 0]) / f.size for f, p in ((fraction, small.uniform("velocity")), (all_of_it, whole.uniform("velocity")[:, :, half:]))]
            self.assertAlmostEqual(flow[0] / flow[1], 1.0, 5)
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(path))
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
        reader.Update()
        bounds = [0.0] * 6
        reader.GetOutput().GetBounds(bounds)
        np.testing.assert_allclose(bounds, [1e-3, 2e-3, 0, 1e-3, 0, 1e-3])

    def test_movies_are_made(self):
        for command in next(code for code in blocks("sh") if "karst.plot movie" in code).splitlines():
            self.call(command.replace(".venv/bin/python", sys.executable).split())
        folder = Path(self.folder.name) / "out/unsteady"
        self.assertEqual((folder / "velocity.gif").read_bytes()[:6], b"GIF89a")
        self.assertEqual(len(list((folder / "frames").iterdir())), len(list(folder.glob("slice_z_*.vti"))))

    def test_streamlines_pass_the_ball(self):
        seen = self.code("vtkStreamTracer", """[lines.GetNumberOfLines(), lines.GetBounds(),
            lines.GetPointData().GetArray("velocity").GetNumberOfComponents(),
            [lines.GetCell(n).GetPoints().GetPoint(lines.GetCell(n).GetNumberOfPoints() - 1)[0] for n in range(lines.GetNumberOfCells())]]""")
        n, bounds, components, ends = seen
        self.assertEqual(n, 21)
        self.assertEqual(components, 3)
        self.assertTrue(all(np.isfinite(bounds)))
        self.assertGreater(np.mean(np.array(ends) > 0.9 * EDGES[0]), 0.8)  # the others end where they come near a wall
        self.assertGreaterEqual(bounds[2], 0.0)
        self.assertLessEqual(bounds[3], EDGES[1])

    def test_yt_has_the_right_lengths_and_velocity(self):
        width, flow, pores = self.code("yt.SlicePlot", "[data.domain_width.to('m').tolist(), float(flow), float(pores)]")
        np.testing.assert_allclose(width, EDGES, rtol=1e-12)
        self.assertTrue((self.results / "yt.png").stat().st_size > 10000)
        volume = np.prod(EDGES)
        self.assertLess(abs(pores / volume / self.summary["connected_porosity"] - 1), 1e-5)
        self.assertLess(abs(flow / volume / self.darcy_velocity() - 1), 1e-3)  # measured 3e-5

    def darcy_velocity(self):
        return self.summary["flow"][0]["darcy_velocity_m_s"][0]

    def test_python_gives_the_figures_of_the_run(self):
        porosity, shape, plane, unit, darcy = self.code(
            "with karst.Plotfile", "[float(fraction.mean()), velocity.shape, pressure.shape, plot.unit('velocity'), float(darcy)]")
        self.assertLess(abs(porosity / self.summary["connected_porosity"] - 1), 1e-5)
        self.assertEqual((shape, plane, unit), ([32, 32, 64, 3], [32, 64], "m/s"))
        self.assertLess(abs(darcy / self.darcy_velocity() - 1), 1e-3)  # measured 3e-5; 0.8 % by fraction x velocity

    def test_plain_hdf5_has_names_and_units(self):
        text = self.call([sys.executable, "-c", block("import h5py\n")])
        self.assertIn("b'Flow past a ball in a duct, refined at the wall'", text)
        self.assertIn("b'm/s'", text)

    def test_series_has_the_times_of_its_files(self):
        times, series = self.code("output.vtkhdf.series", "[times, series]")
        np.testing.assert_allclose(times, [0.025, 0.05, 0.06], rtol=1e-12)
        self.assertEqual([item["time"] for item in series], times)
        self.assertEqual([item["name"] for item in series], ["output_0001.vtkhdf", "output_0002.vtkhdf", "plot.vtkhdf"])
        largest = []
        for item in series:
            reader = vtk.vtkHDFReader()
            reader.SetFileName(str(self.results.parent / "unsteady" / item["name"]))
            reader.Update()
            data = reader.GetOutputDataObject(0).GetDataSetAsImageData(0, 0).GetCellData()
            largest.append(float(np.linalg.norm(vtk_to_numpy(data.GetArray("velocity")), axis=1).max()))
        self.assertEqual(len(set(largest)), 3)  # each has a state of its own

    def test_slices_are_planes_of_the_plotfile(self):
        n, times, names = self.code("karst.Slices", "[len(slices), slices.times.tolist(), [path.name for path in slices.paths]]")
        self.assertEqual((n, names[-1]), (12, "slice_z_0012.vti"))
        self.assertTrue(all(5e-3 * (i + 1) * (1 - 1e-9) <= t < 5e-3 * (i + 1) + 2.1e-3 for i, t in enumerate(times)), times)
        folder = self.results.parent / "unsteady"
        with karst.Plotfile(folder / "plot.vtkhdf") as plot:
            plane = plot.plane("velocity", axis=2, at=0.5)
        last = karst.Slices(folder / "slice_z.vti.series")[-1]
        self.assertEqual((last.axis, last.arrays["velocity"], last.time), (2, "m/s", 0.06))
        np.testing.assert_allclose(last["velocity"], plane, rtol=1e-6)
        np.testing.assert_allclose(last.origin, [0, 0, 8 / 16 * 1e-3], rtol=1e-6)
        reader = vtk.vtkXMLImageDataReader()
        reader.SetFileName(str(folder / names[-1]))
        reader.Update()
        image = reader.GetOutput()
        self.assertEqual(image.GetDimensions(), (17, 17, 2))
        seen = vtk_to_numpy(image.GetCellData().GetArray("velocity"))
        np.testing.assert_array_equal(seen.reshape(16, 16, 3), last["velocity"])

    def test_view_is_one_page(self):
        command = next(code for code in blocks("sh") if "karst view" in code).replace("build/release/karst", str(KARST)).split()
        os.environ["KARST_PYTHON"] = sys.executable
        self.assertEqual(self.call(command), "out/refined/view.html\n")
        self.assertIn("<h1>Flow past a ball in a duct, refined at the wall</h1>", (self.results / "view.html").read_text())

    def grids(self):
        """Arrays of every box as VTK reads them, by name."""
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(self.results / "plot.vtkhdf"))
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
        reader.Update()
        amr = reader.GetOutputDataObject(0)
        self.assertEqual(amr.GetNumberOfLevels(), 2)
        for level in range(2):
            for b in range(amr.GetNumberOfBlocks(level)):
                data = amr.GetDataSetAsImageData(level, b).GetCellData()
                yield level, {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}

    def test_solid_is_zero_and_hidden_and_all_fluid_has_a_value(self):
        hidden = shown = still = covered = apart = 0
        for _, arrays in self.grids():
            solid = arrays["vtkGhostType"] & 32 != 0
            under = arrays["vtkGhostType"] & 8 != 0
            self.assertTrue(solid[arrays["fraction"] == 0].all())
            self.assertLess(arrays["fraction"][solid].max(initial=0.0), 1e-2)  # fragments that nothing reaches
            self.assertTrue(np.isfinite(arrays["velocity"]).all() and np.isfinite(arrays["pressure"]).all())
            self.assertTrue((arrays["velocity"][solid | under] == 0).all())
            self.assertTrue((arrays["fraction"] >= 0).all() and (arrays["fraction"] <= 1).all())
            np.testing.assert_allclose(arrays["speed"], np.linalg.norm(arrays["velocity"], axis=1), rtol=1e-5)
            hidden, covered = hidden + solid.sum(), covered + under.sum()
            shown += (arrays["vtkGhostType"] == 0).sum()
            apart += (solid & (arrays["fraction"] > 0)).sum()
            still += ((arrays["vtkGhostType"] == 0) & (arrays["speed"] == 0)).sum()
        self.assertGreater(min(hidden, shown, covered), 1000)
        # Cells whose fluid joined a neighbour show the flow of their home; isolated fragments have no home and no flow, and
        # are hidden where no face leads to them.
        self.assertEqual(still + apart, self.summary["cells"]["orphans"])
        self.assertGreater(apart, 0)

    def test_exports(self):
        command = next(code for code in blocks("sh") if "karst.export" in code).replace(".venv/bin/python", sys.executable).split()
        self.call(command)
        about = json.loads((self.results / "export.json").read_text())
        self.assertEqual(about["fields"]["velocity"]["units"], "m/s")
        velocity = np.load(self.results / about["fields"]["velocity"]["file"])
        self.assertEqual(velocity.shape, (32, 32, 64, 3))
        self.assertEqual(np.isnan(velocity).sum(), 0)
        distance = np.load(self.results / about["fields"]["distance"]["file"])
        self.assertLess(abs(float(velocity[..., 0][distance > 0].sum()) / distance.size / self.darcy_velocity() - 1), 1e-3)
        for name in ("export.vti", "export_wall.stl", "export_streamlines.vtp"):
            self.assertGreater((self.results / name).stat().st_size, 1000)
        self.assertLess(abs(self.area_of_wall() / self.summary["wall_area_m2"] - 1), 0.03)  # measured -1.5 %

    def area_of_wall(self):
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(self.results / "export_wall.vtp"))
        triangles, size = vtk.vtkTriangleFilter(), vtk.vtkMassProperties()
        triangles.SetInputConnection(reader.GetOutputPort())
        size.SetInputConnection(triangles.GetOutputPort())
        return size.GetSurfaceArea()

    def test_second_names_for_an_older_paraview(self):
        command = next(code for code in blocks("sh") if ".hdf" in code and "ln -s" in code)
        self.call(["bash", "-c", command])
        reader = vtk.vtkHDFReader()
        self.assertTrue(reader.CanReadFile(str(self.results / "plot.hdf")))


if __name__ == "__main__":
    unittest.main()

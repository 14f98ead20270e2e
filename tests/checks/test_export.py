#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python -m karst.export on the plotfile of test_drawing.py: its formats contain the exact values of a sphere and a linear flow."""
import importlib
import json
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

import numpy as np
import pyvista
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkMassProperties, vtkTriangleFilter
from vtkmodules.vtkIOGeometry import vtkSTLReader
from vtkmodules.vtkIOPLY import vtkPLYReader
from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPolyDataReader

import test_drawing
from karst.plotfile import FRACTION, Plotfile

EDGE = 1e-3  # of the domain [m]
RADIUS = test_drawing.RADIUS * EDGE


def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        test_drawing.write_plotfile(cls.path / "plot.vtkhdf")
        done = cls.export("npy", "vti", "stl", "ply", "vtp", "streamlines", "--lines", "30")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def export(cls, *arguments):
        command = [sys.executable, "-m", "karst.export", cls.path / "plot.vtkhdf", "-o", cls.path / "e", "--export", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_dense_arrays_are_those_of_the_plotfile(self):
        about = json.loads((self.path / "e.json").read_text())
        self.assertEqual(about["fields"]["velocity"]["units"], "m/s")
        self.assertEqual((about["title"], about["time_s"], about["cell_width_m"]), ("a sphere", 0.5, EDGE / 40))
        velocity = np.load(self.path / "e_velocity.npy")
        self.assertEqual(velocity.shape, (40, 40, 40, 3))
        with Plotfile(self.path / "plot.vtkhdf") as plot:
            expected = np.nan_to_num(plot.uniform("velocity"))
            np.testing.assert_array_equal(velocity, expected)
            image = read(vtkXMLImageDataReader(), self.path / "e.vti")
            self.assertEqual(image.GetDimensions(), (41, 41, 41))
            np.testing.assert_allclose(image.GetSpacing(), EDGE / 40)
            cells = image.GetCellData()
            np.testing.assert_array_equal(vtk_to_numpy(cells.GetArray("velocity")), expected.reshape(-1, 3))
            np.testing.assert_array_equal(vtk_to_numpy(cells.GetArray("vtkGhostType")) == 32, plot.uniform(FRACTION).ravel() == 0)
            self.assertEqual(image.GetFieldData().GetAbstractArray("units_velocity").GetValue(0), "m/s")
            self.assertEqual(image.GetFieldData().GetArray("TimeValue").GetValue(0), 0.5)

    def test_the_wall_is_the_sphere_with_normals_into_the_fluid(self):
        for reader, name in ((vtkSTLReader(), "e_wall.stl"), (vtkPLYReader(), "e_wall.ply"), (vtkXMLPolyDataReader(), "e_wall.vtp")):
            with self.subTest(name):
                surface = read(reader, self.path / name)
                points = vtk_to_numpy(surface.GetPoints().GetData()) - EDGE / 2
                self.assertLess(np.abs(np.linalg.norm(points, axis=1) - RADIUS).max(), 0.5 * EDGE / 20)
                triangles = vtkTriangleFilter()
                triangles.SetInputData(surface)
                mass = vtkMassProperties()
                mass.SetInputConnection(triangles.GetOutputPort())
                self.assertLess(abs(mass.GetSurfaceArea() / (4 * np.pi * RADIUS**2) - 1), 0.02)
                corners = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
                a, b, c = (points[corners[:, n]].astype(float) for n in range(3))
                outwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a)
                self.assertGreater((outwards > 0).mean(), 0.99)  # order of the corners; slivers may turn

    def test_streamlines_of_a_flow_of_one_direction_are_straight(self):
        lines = read(vtkXMLPolyDataReader(), self.path / "e_streamlines.vtp")
        self.assertGreater(lines.GetNumberOfCells(), 30)
        direction = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
        speed, velocity = (vtk_to_numpy(lines.GetPointData().GetArray(name)) for name in ("speed", "velocity"))
        np.testing.assert_allclose(speed, np.linalg.norm(velocity, axis=1), rtol=0.01)
        points = vtk_to_numpy(lines.GetPoints().GetData()).astype(float)
        for n in range(lines.GetNumberOfCells()):
            ids = [lines.GetCell(n).GetPointId(i) for i in range(lines.GetCell(n).GetNumberOfPoints())]
            line = points[ids] - points[ids[0]]
            away = line - np.outer(line @ direction, direction)
            self.assertLess(np.linalg.norm(away, axis=1).max(), 1e-4 * EDGE)

    def test_pyvista_reads_plotfiles_and_leaves_other_files_to_itself(self):
        with Plotfile(self.path / "plot.vtkhdf") as plot:
            velocity = np.nan_to_num(plot.uniform("velocity", 0))
            coarse = plot.to_pyvista("velocity", level=0)
        np.testing.assert_array_equal(coarse.cell_data["velocity"], velocity.reshape(-1, 3))
        np.testing.assert_allclose(coarse.bounds, [0, EDGE] * 3)
        handler = tomllib.loads((test_drawing.ROOT / "python/pyproject.toml").read_text())["project"]["entry-points"]["pyvista.readers.override"]
        module, name = handler[".vtkhdf"].split(":")
        pyvista.register_reader(".vtkhdf", getattr(importlib.import_module(module), name), override=True)
        whole = pyvista.read(self.path / "plot.vtkhdf")
        self.assertEqual((whole.dimensions, whole.field_data["units_velocity"][0]), ((41, 41, 41), "m/s"))
        self.assertEqual(whole.cell_data["vtkGhostType"].max(), 32)
        pyvista.Sphere().save(self.path / "sphere.vtkhdf")
        self.assertEqual(pyvista.read(self.path / "sphere.vtkhdf").n_cells, pyvista.Sphere().n_cells)

    def test_wrong_input_is_named_in_one_line(self):
        for arguments, message in ((["npy", "--fields", "presure"], "it has: fraction, pressure"),
                                   (["streamlines", "--velocity", "pressure"], "need a vector"),
                                   (["streamlines", "--lines", "0"], "must be 1 or more")):
            done = self.export(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""Results in pandas and xarray, and the mistakes that people make with arrays: on the plotfile of test_drawing.py and tables of this test."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import karst
import numpy as np
import pandas
import test_drawing

from karst.plotfile import Plotfile

EDGE = 1e-3  # of the domain [m]
PACKAGE = Path(karst.__file__).parent


class InFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        test_drawing.write_plotfile(cls.path / "plot.vtkhdf")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class Labelled(InFolder):
    def test_fields_have_dimensions_centres_and_units(self):
        with Plotfile(self.path / "plot.vtkhdf") as plot:
            data, coarse, mm = plot.to_xarray(), plot.to_xarray("pressure", level=0), plot.to_xarray("pressure", length="mm")
            np.testing.assert_array_equal(data.velocity.values, plot.uniform("velocity"))
            np.testing.assert_array_equal(data.x.values, plot.centres("x"))
        self.assertEqual((data.velocity.dims, data.pressure.dims), (("z", "y", "x", "component"), ("z", "y", "x")))
        self.assertEqual((data.velocity.attrs, data.x.attrs["units"]), ({"units": "m/s", "long_name": "velocity"}, "m"))
        self.assertEqual((float(data.time), data.attrs["title"], dict(coarse.sizes)), (0.5, "a sphere", {"z": 20, "y": 20, "x": 20}))
        along = data.pressure.sel(x=0.9 * EDGE, method="nearest")  # x in units of the domain, in cells of 1/20 there
        np.testing.assert_allclose(along.dropna("y", how="all").max(), 0.9 + 0.025, rtol=1e-6)
        self.assertEqual((float(mm.x[0]), mm.x.attrs["units"]), (float(data.x[0]) * 1e3, "mm"))
        corner = data.sel(x=2e-4, y=2e-5, z=2e-5, method="nearest")
        np.testing.assert_allclose(corner.velocity.sel(component="y"), 2 * corner.pressure, rtol=1e-6)

    def test_a_series_is_a_dimension_of_time_whose_levels_may_differ(self):
        shutil.copy(self.path / "plot.vtkhdf", self.path / "output_0001.vtkhdf")
        with h5py.File(self.path / "output_0001.vtkhdf", "a") as file:  # a grid that follows: one level at this time
            del file["VTKHDF/Level1"]
            file.attrs["time"] = 0.25
        (self.path / "output.vtkhdf.series").write_text(json.dumps({"files": [{"name": "output_0001.vtkhdf", "time": 0.25}]}))
        series = karst.Series(self.path)  # with plot.vtkhdf, the final state
        data = series.to_xarray("pressure", "velocity")
        self.assertEqual((data.pressure.dims, data.velocity.shape), (("time", "z", "y", "x"), (2, 40, 40, 40, 3)))
        np.testing.assert_array_equal(data.time, [0.25, 0.5])
        self.assertEqual(data.time.attrs["units"], "s")
        with series[0] as first, series[1] as last:
            np.testing.assert_array_equal(data.pressure[0, ::2, ::2, ::2], first.uniform("pressure"))
            np.testing.assert_array_equal(data.pressure[0, 1::2, 1::2, 1::2], first.uniform("pressure"))
            np.testing.assert_array_equal(data.pressure[1], last.uniform("pressure"))
        self.assertEqual(series.to_xarray("pressure", level=0).pressure.shape, (2, 20, 20, 20))
        with self.assertRaisesRegex(karst.KarstError, "levels 0 to 1"):
            series.to_xarray("pressure", level=2)
        with self.assertRaisesRegex(karst.KarstError, "there are 2 plotfiles, 0 to 1"):
            series[2]


class Frames(InFolder):
    def test_a_table_is_a_frame(self):
        lines = ["time_s,tracer_outlet,note", "1,0.5,a", "2,,b"]
        (self.path / "transport.csv").write_text("\n".join(lines) + "\n")
        table = karst.Table(self.path / "transport.csv")
        for frame in (pandas.DataFrame(table), table.to_pandas()):
            self.assertEqual((frame.shape, list(frame.columns)), ((2, 3), ["time_s", "tracer_outlet", "note"]))
            np.testing.assert_array_equal(frame["tracer_outlet"], [0.5, np.nan])
        self.assertEqual(table.to_pandas().attrs["units"], {"time_s": "s", "tracer_outlet": "C", "note": "1"})
        self.assertEqual(table.to_pandas("time_s").loc[2.0, "note"], "b")
        pandas.testing.assert_frame_equal(pandas.read_csv(self.path / "transport.csv"), table.to_pandas(), check_dtype=False)
        with self.assertRaisesRegex(karst.KarstError, "note holds text"):
            table.to_array()
        with self.assertRaisesRegex(karst.KarstError, "did you mean 'time_s'"):
            table.to_pandas("times")


class Mistakes(InFolder):
    def test_every_mistake_is_one_of_the_package_and_says_what_is_allowed(self):
        with Plotfile(self.path / "plot.vtkhdf") as plot:
            for act, message in ((lambda: plot.plane("pressure", 3), '"x", "y", "z"'), (lambda: plot.plane("pressure", "w"), '"x", "y", "z"'),
                                 (lambda: plot.plane("pressure", "x", 0.0005), "a text with its unit"), (lambda: plot.plane("pressure", "x", 1.5), "0 to 1"),
                                 (lambda: plot.plane("pressure", "x", "2 mm"), "from 0 to 0.001 m"), (lambda: plot.plane("pressure", "x", "2 miles"), "nm, um, mm"),
                                 (lambda: plot.uniform("velocity", 2), "levels 0 to 1"), (lambda: plot.uniform("presure"), "did you mean 'pressure'"),
                                 (lambda: plot.centres(7), '"x", "y", "z"'), (lambda: plot.box("pressure", 0, 99), "boxes 0 to"),
                                 (lambda: plot.rectangles(5, "x", 0.5), "levels 0 to 1"), (lambda: plot.export(self.path / "e", "vtk"), "did you mean 'vtp'")):
                with self.assertRaisesRegex(karst.KarstError, message):
                    act()

    def test_a_place_is_a_fraction_or_has_a_unit(self):
        with Plotfile(self.path / "plot.vtkhdf") as plot:
            middle = plot.uniform("pressure")[:, :, 20]
            for at in (0.5, "0.5 mm", "500um", "5e-4 m"):
                np.testing.assert_array_equal(plot.plane("pressure", "x", at), middle)
            np.testing.assert_array_equal(plot.plane("pressure", "x", 0), plot.uniform("pressure")[:, :, 0])

    def test_the_velocity_of_several_drives_is_named(self):
        with h5py.File(self.path / "drives.vtkhdf", "w") as file, h5py.File(self.path / "plot.vtkhdf") as one:
            one.copy("VTKHDF", file)
            file.attrs.update(one.attrs)
            for level in file["VTKHDF"].values():
                for axis in "xyz":
                    level["CellData"].copy("velocity", f"drive_{axis}_velocity")
                del level["CellData/velocity"]
        with Plotfile(self.path / "drives.vtkhdf") as plot, self.assertRaisesRegex(
                karst.KarstError, "did you mean 'drive_x_velocity', 'drive_y_velocity' or 'drive_z_velocity'"):
            plot.uniform("velocity")

    def test_a_package_that_is_missing_is_named_with_its_installation(self):
        code = ("import sys\nsys.modules.update({name: None for name in ('pandas', 'xarray', 'pyvista', 'vtkmodules')})\nimport karst\n"
                "plot = karst.Plotfile('plot.vtkhdf')\nopen('a.csv', 'w').write('x\\n1\\n')\n"
                "for act in (plot.to_xarray, plot.to_pyvista, plot.to_vtk, karst.Table('a.csv').to_pandas, lambda: plot.export('e', 'stl')):\n"
                "    try:\n        act()\n    except karst.KarstError as error:\n        print(error)\nprint(plot.export('e', 'npy')[0])\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.path)
        self.assertEqual([line.rpartition("pip install ")[2] for line in done.stdout.splitlines()],
                         ["xarray", "pyvista", "vtk", "pandas", "vtk", "e_fraction.npy"], done.stdout + done.stderr)


class Programs(InFolder):
    """Where the program is looked for: a copy of the package in an environment of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prefix = cls.path.resolve() / "prefix"
        cls.package = cls.prefix / "lib/python3/site-packages/karst"
        shutil.copytree(PACKAGE, cls.package)

    def found(self, **environment):
        code = "import karst\ntry:\n    print(karst.find_program())\nexcept karst.KarstError as error:\n    print(error)\n"
        clean = {name: value for name, value in os.environ.items() if name not in ("KARST_BUILD", "PATH")}
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=self.path,
                              env={**clean, "PYTHONPATH": str(self.package.parent), "PATH": "/nowhere", **environment}).stdout.strip()

    def put(self, place, text="\x7fELF"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(0o755)
        return str(place)

    def test_the_one_that_was_installed_with_the_package_comes_first(self):
        self.assertRegex(self.found(), "not found in the package, .*PATH.*KARST_BUILD")
        on_path = self.put(self.path.resolve() / "path/karst")
        self.assertEqual(self.found(PATH=str(Path(on_path).parent)), on_path)
        self.put(self.prefix / "bin/karst", "#!/usr/bin/python3\n")  # a script of an environment, which starts this package
        self.assertEqual(self.found(PATH=str(Path(on_path).parent)), on_path)
        beside = self.put(self.prefix / "bin/karst")
        self.assertEqual(self.found(PATH=str(Path(on_path).parent)), beside)
        within = self.put(self.package / "_program/bin/karst", "#!/bin/sh\n")
        self.assertEqual(self.found(PATH=str(Path(on_path).parent)), within)
        self.assertEqual(self.found(KARST_BUILD=str(Path(on_path).parent)), on_path)


if __name__ == "__main__":
    unittest.main()

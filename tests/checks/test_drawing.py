#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The drawing tools on a small plotfile written by this test: one solid sphere, two levels, one box left out, clipped boxes."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import h5py
import matplotlib.image
import numpy as np
from karst import KarstError, Plotfile
from karst.plot import draw_slice, movie, write_movie
from karst.plotfile import FRACTION, doubled
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]

BOX = 8
CELLS = 20  # level 0: 8 + 8 + 4 cells in each direction
RADIUS = 0.38


def fraction_of(n):
    """Fluid around a sphere in the middle of the unit cube, about right in cut cells, [k, j, i]."""
    x = (np.arange(n) + 0.5) / n - 0.5
    distance = np.sqrt(x[:, None, None] ** 2 + x[None, :, None] ** 2 + x[None, None, :] ** 2) - RADIUS
    return np.clip(distance * n + 0.5, 0, 1)


def ramp_of(n):
    """x in units of the domain, [k, j, i]."""
    return np.broadcast_to((np.arange(n) + 0.5) / n, (n, n, n))


def write_level(file, number, keep):
    n = CELLS << number
    ramp = ramp_of(n)
    fields = {FRACTION: fraction_of(n), "pressure": ramp, "velocity": np.stack([ramp, 2 * ramp, 3 * ramp], axis=-1)}
    group = file.create_group(f"VTKHDF/Level{number}")
    group.attrs["Spacing"] = np.full(3, 1e-3 / n)
    boxes, values = [], {name: [] for name in (*fields, "vtkGhostType")}
    for k in range(0, n, BOX):
        for j in range(0, n, BOX):
            for i in range(0, n, BOX):
                cut = {name: f[k:k + BOX, j:j + BOX, i:i + BOX] for name, f in fields.items()}
                if cut[FRACTION].max() == 0 or not keep(i / n):
                    continue
                nz, ny, nx = cut[FRACTION].shape
                boxes.append((i, i + nx - 1, j, j + ny - 1, k, k + nz - 1))
                fluid = cut[FRACTION] > 0
                for name, f in cut.items():
                    f = f.reshape(fluid.size, -1) * fluid.reshape(-1, 1)
                    values[name].append(f if name == "velocity" else f[:, 0])
                values["vtkGhostType"].append(np.where(fluid, 0, 32).ravel())
    group["AMRBox"] = np.array(boxes, np.int32)
    for name, parts in values.items():
        group[f"CellData/{name}"] = np.concatenate(parts).astype(np.uint8 if name == "vtkGhostType" else np.float32)
    group["CellData/velocity"].attrs["units"] = np.bytes_("m/s")


def write_plotfile(path):
    with h5py.File(path, "w") as file:
        file.attrs.update({"time": 0.5, "title": np.bytes_("a sphere"), "domain_cells": np.full(3, CELLS, np.int32)})
        write_level(file, 0, lambda x: True)
        write_level(file, 1, lambda x: x < 0.4)  # refined at low x: cells 0 .. 15 of 40


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name) / "plot.vtkhdf"
        write_plotfile(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def draw(self, tool, *arguments):
        """Runs a tool; returns its result and the picture's path."""
        picture = Path(self.folder.name) / f"{tool}.png"
        picture.unlink(missing_ok=True)
        command = [sys.executable, ROOT / "tools" / tool, *arguments, "-o", picture]
        return subprocess.run(command, capture_output=True, text=True), picture

    def test_values_come_back_exactly(self):
        with Plotfile(self.path) as plot:
            self.assertEqual(plot.components, [FRACTION, "pressure", "velocity_x", "velocity_y", "velocity_z"])
            self.assertEqual((plot.title, plot.time, plot.unit("velocity_y")), ("a sphere", 0.5, "m/s"))
            np.testing.assert_allclose(plot.size, 1e-3)
            fine = plot.uniform(FRACTION)
            coarse = fraction_of(CELLS).repeat(2, 0).repeat(2, 1).repeat(2, 2)
            np.testing.assert_allclose(fine[:, :, :16], fraction_of(2 * CELLS)[:, :, :16], atol=1e-6)
            np.testing.assert_allclose(fine[:, :, 16:], coarse[:, :, 16:], atol=1e-6)
            np.testing.assert_allclose(plot.uniform(FRACTION, 0), fraction_of(CELLS), atol=1e-6)

    def test_vectors_are_one_array_and_solid_is_not_a_number(self):
        with Plotfile(self.path) as plot:
            velocity, solid = plot.uniform("velocity"), plot.uniform(FRACTION) == 0
            self.assertEqual(velocity.shape, (2 * CELLS,) * 3 + (3,))
            for c in range(3):
                np.testing.assert_array_equal(velocity[..., c], plot.uniform(f"velocity_{'xyz'[c]}"))
            np.testing.assert_array_equal(np.isnan(velocity[..., 0]), solid)
            np.testing.assert_allclose(velocity[..., 2][~solid], 3 * velocity[..., 0][~solid], rtol=1e-6)

    def test_a_plane_is_a_cut_of_the_whole(self):
        with Plotfile(self.path) as plot:
            for axis in range(3):
                for field in plot.components:
                    np.testing.assert_array_equal(plot.plane(field, axis, 0.3), plot.uniform(field).take(12, axis=2 - axis))

    def test_interpolation_for_surfaces_keeps_linear_fields_and_fine_values(self):
        line = np.arange(5.0)[None, :, None] * np.ones((2, 1, 2))
        np.testing.assert_allclose(doubled(line, 1)[:, 1:-1], ((np.arange(10) + 0.5) / 2 - 0.5)[None, 1:-1, None] * np.ones((2, 1, 2)))
        with Plotfile(self.path) as plot:
            smooth, fine = plot.smooth_wall_field(), plot.uniform(FRACTION)
            self.assertEqual(smooth.shape, (2 * CELLS,) * 3)
            np.testing.assert_array_equal(smooth[:BOX, :BOX, :BOX], fine[:BOX, :BOX, :BOX] - 0.5)

    def test_pictures_are_drawn_and_not_blank(self):
        for tool, arguments in (("plot_slice.py", ["--axis", "y", "--field", "pressure"]), ("plot_wall.py", ["--size", "300"])):
            with self.subTest(tool):
                done, picture = self.draw(tool, self.path, *arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                pixels = matplotlib.image.imread(picture)[:, :, :3]
                self.assertGreater(np.mean(np.any(pixels < 0.9, axis=2)), 0.1)

    def test_a_region_is_in_its_place(self):
        """The boxes at 8 <= x < 16 of 20, with those above and below."""
        path = Path(self.folder.name) / "part.vtkhdf"
        with h5py.File(path, "w") as file:
            file.attrs.update({"time": 0.5, "domain_cells": np.full(3, CELLS, np.int32), "region": np.array([8, 15, 0, 19, 0, 19], np.int32)})
            write_level(file, 0, lambda x: 0.4 <= x < 0.8)
        with Plotfile(path) as part, Plotfile(self.path) as whole:
            np.testing.assert_allclose(part.origin, [0.4e-3, 0, 0])
            np.testing.assert_allclose(part.size, [0.4e-3, 1e-3, 1e-3])
            np.testing.assert_allclose(part.centres("x"), whole.centres("x", 0)[8:16])
            np.testing.assert_array_equal(part.uniform("pressure"), whole.uniform("pressure", 0)[..., 8:16])
            np.testing.assert_array_equal(part.plane("velocity", "x", "0.62 mm"), whole.plane("velocity", "x", "0.62 mm", 0))
            np.testing.assert_allclose(part.to_vtk("pressure").GetBounds(), [0.4e-3, 0.8e-3, 0, 1e-3, 0, 1e-3])
            self.assertEqual(part.to_xarray("pressure").x.values.tolist(), part.centres("x").tolist())
            with self.assertRaisesRegex(KarstError, "the file goes from 0.0004 to 0.0008 m along this axis"):
                part.plane("pressure", "x", "0.2 mm")
            axes = draw_slice(path, field="pressure").axes[0]
            np.testing.assert_allclose([*axes.get_xlim(), *axes.get_ylim()], [0.4, 0.8, 0, 1])

    def test_movies_have_one_scale_and_the_time(self):
        """Values that grow with time; of three pictures all differ, and a given scale saturates."""
        folder = Path(self.folder.name) / "run"
        folder.mkdir()
        for n in range(3):
            write_plotfile(folder / f"output_{n + 1:04d}.vtkhdf")
            with h5py.File(folder / f"output_{n + 1:04d}.vtkhdf", "r+") as file:
                file.attrs["time"] = 2e-3 * n
                for level in (0, 1):
                    file[f"VTKHDF/Level{level}/CellData/pressure"][:] *= n + 1
        frames = write_movie(folder, folder / "frames", field="pressure")
        self.assertEqual(sorted(path.name for path in frames.iterdir()), ["frame_0001.png", "frame_0002.png", "frame_0003.png"])
        pictures = [matplotlib.image.imread(path)[..., :3] for path in sorted(frames.iterdir())]
        self.assertEqual(len({picture.shape for picture in pictures}), 1)
        self.assertTrue(all(np.any(pictures[n] != pictures[n + 1]) for n in range(2)))
        film = write_movie(folder, folder / "film.gif", field="pressure", limits=(0.0, 1.0), fps=4)
        with Image.open(film) as shown:
            self.assertEqual((shown.n_frames, shown.info["duration"]), (3, 250))
        with mock.patch.object(movie, "ffmpeg", lambda: None):
            self.assertEqual(write_movie(folder).name, "movie.gif")
            with self.assertRaisesRegex(KarstError, "needs ffmpeg, which is not there"):
                write_movie(folder, folder / "film.mp4")
        with self.assertRaisesRegex(KarstError, "a movie ends in .mp4, .gif or .webp"):
            write_movie(folder, folder / "film.avi")
        self.assertEqual([p.name for p in folder.iterdir() if ".karst-movie" in p.name or p.suffix == ".tmp"], [])

    def test_figures_of_a_report_stand_alone(self):
        page = Path(self.folder.name) / "report.html"
        page.write_text('<style>svg{}</style><body><svg class="chart" viewBox="0 0 9 9"></svg><svg class="body" style="font-size:20px" '
                        'viewBox="-5 0 745 560"><image width="640"/><text>µm/s</text></svg></body>')
        picture = page.with_name("figure.svg")
        tool = [sys.executable, ROOT / "tools" / "report_figure.py", page, "-o", picture]
        subprocess.run(tool, check=True)
        root = ElementTree.parse(picture).getroot()
        self.assertEqual((root.tag, root.get("viewBox"), root.get("font-size")),
                         ("{http://www.w3.org/2000/svg}svg", "-5 0 745 560", "20"))
        self.assertEqual([child.tag.split("}")[1] for child in root], ["style", "rect", "image", "text"])
        done = subprocess.run([*tool, "--number", "1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has 1 figures, but number 1", done.stderr)

    def test_wrong_input_is_named_in_one_line(self):
        text = Path(self.folder.name) / "text.hdf5"
        text.write_text("no plotfile")
        other = Path(self.folder.name) / "other.hdf5"
        h5py.File(other, "w").close()
        for path, arguments, message in ((text, [], "cannot be read as HDF5"), (other, [], "not a plotfile"),
                                         (self.path, ["--field", "presure"], "it has: fraction, pressure, velocity")):
            done, picture = self.draw("plot_slice.py", path, *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertFalse(picture.exists())
        with self.assertRaises(KarstError):
            Plotfile(self.path).unit("none")

    def test_packages_that_are_missing_are_named(self):
        call = "import sys; sys.modules['{}'] = None; from karst.plot.__main__ import guarded, main; guarded(lambda: main(sys.argv[1:]))"
        for picture, package, first in (("slice", "matplotlib", "matplotlib"), ("view", "vtkmodules", "vtk"), ("wall", "pyvista", "pyvista")):
            done = subprocess.run([sys.executable, "-c", call.format(package), picture, self.path, "-o", "none"], capture_output=True, text=True)
            self.assertRegex(done.stderr, rf"\Aerror: a .* needs the package {first}, .* install it with: {sys.executable} -m pip install {first}\n\Z")


if __name__ == "__main__":
    unittest.main()

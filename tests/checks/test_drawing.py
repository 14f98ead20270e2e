#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The drawing tools on a small plotfile made here: one sphere of solid, two levels, one box left out, clipped boxes."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import matplotlib.image
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from karst_plotfile import FRACTION, Plotfile, PlotfileError, doubled  # noqa: E402

BOX = 8
CELLS = 20  # level 0: 8 + 8 + 4 cells in each direction
RADIUS = 0.38
BOX_TYPE = np.dtype([(f"{end}_{d}", "<i4") for end in ("lo", "hi") for d in "ijk"])


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
    fields = [fraction_of(n), ramp_of(n)]
    group = file.create_group(f"level_{number}")
    group.attrs["dx"] = 1e-3 / n
    group.attrs["prob_domain"] = np.array((0, 0, 0, n - 1, n - 1, n - 1), BOX_TYPE)
    boxes, values, offsets = [], [], [0]
    for k in range(0, n, BOX):
        for j in range(0, n, BOX):
            for i in range(0, n, BOX):
                cut = [f[k:k + BOX, j:j + BOX, i:i + BOX] for f in fields]
                if cut[0].max() == 0 or not keep(i / n):
                    continue
                nz, ny, nx = cut[0].shape
                boxes.append((i, j, k, i + nx - 1, j + ny - 1, k + nz - 1))
                values += [np.where(cut[0] > 0, f, np.nan).ravel() for f in cut]
                offsets.append(offsets[-1] + 2 * cut[0].size)
    group["boxes"] = np.array(boxes, BOX_TYPE)
    group["data:offsets=0"] = np.array(offsets, np.int64)
    group["data:datatype=0"] = np.concatenate(values).astype(np.float32)


def write_plotfile(path):
    with h5py.File(path, "w") as file:
        file.attrs.update({"num_levels": 2, "num_components": 2, "time": 0.0, "component_0": np.bytes_(FRACTION),
                           "component_1": np.bytes_("pressure")})
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
            self.assertEqual(plot.components, [FRACTION, "pressure"])
            np.testing.assert_allclose(plot.size, 1e-3)
            fine = plot.uniform(FRACTION)
            coarse = fraction_of(CELLS).repeat(2, 0).repeat(2, 1).repeat(2, 2)
            np.testing.assert_allclose(fine[:, :, :16], fraction_of(2 * CELLS)[:, :, :16], atol=1e-6)
            np.testing.assert_allclose(fine[:, :, 16:], coarse[:, :, 16:], atol=1e-6)
            np.testing.assert_allclose(plot.uniform(FRACTION, 0), fraction_of(CELLS), atol=1e-6)

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

    def test_wrong_input_is_named_in_one_line(self):
        text = Path(self.folder.name) / "text.hdf5"
        text.write_text("no plotfile")
        other = Path(self.folder.name) / "other.hdf5"
        h5py.File(other, "w").close()
        for path, arguments, message in ((text, [], "cannot be read as HDF5"), (other, [], "no plotfile"),
                                         (self.path, ["--field", "presure"], "it has: fraction, pressure")):
            done, picture = self.draw("plot_slice.py", path, *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertFalse(picture.exists())
        with self.assertRaises(PlotfileError):
            Plotfile(self.path).component("none")


if __name__ == "__main__":
    unittest.main()

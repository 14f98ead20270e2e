#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst view` and python -m karst.plot view: a page without network that contains the values of its plotfiles, wall and streamlines; reports link to it.

usage: test_view.py KARST
"""
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
import test_drawing
from karst import KarstError, Plotfile
from karst.plot import write_view

KARST = str(Path(sys.argv.pop(1)).resolve())
EDGE = 1e-3  # of the domain of test_drawing [m]
DECK = """title = "A ball"
[[geometry.solid]]
shape = "sphere"
center = [0.5, 0.5, 0.5]
radius = 0.3
[grid]
cells = [8, 8, 8]
size = [1, 1, 1]
periodic = [true, true, true]
[flow]
model = "stokes"
drive = "pressure-gradient"
axes = ["x"]
"""


class Page:
    """What a page contains, decoded as view.js does."""

    def __init__(self, path):
        self.text = Path(path).read_text(encoding="utf-8")
        self.scene = json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', self.text)[1])

    def array(self, number, width):
        text = re.search(rf'<script type="text/plain" id="array{number}">(.*?)</script>', self.text)[1]
        planes = np.frombuffer(gzip.decompress(base64.b64decode(text)), np.uint8).reshape(width, -1).astype(np.int64)
        code = sum(plane << (8 * n) for n, plane in enumerate(planes))
        return np.cumsum(np.where(code % 2, -(code + 1) // 2, code // 2)) % (1 << (8 * width))

    def values(self, frame, field):
        """A field, [k, j, i]."""
        about = self.scene["fields"][field]
        steps = self.array(self.scene["frames"][frame]["fields"][field], 1)
        return about["low"] + steps.reshape(self.scene["cells"][::-1]) / 255 * (about["high"] - about["low"])

    def points(self, number):
        """[point, direction] [m]"""
        return self.array(number, 2).reshape(3, -1).T / 65535 * np.array(self.scene["reach"])


def area_and_volume(points, corners):
    """Of a surface; the volume is > 0 where its triangles are counter-clockwise from outside."""
    a, b, c = (points[corners[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2, (np.cross(a, b) * c).sum() / 6


class View(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.held.name)
        test_drawing.write_plotfile(cls.folder / "output_0001.vtkhdf")
        test_drawing.write_plotfile(cls.folder / "plot.vtkhdf")
        with h5py.File(cls.folder / "output_0001.vtkhdf", "a") as first:  # an earlier time, half the pressure, no velocity of its own
            first.attrs["time"] = 0.25
            for level in (0, 1):
                first[f"VTKHDF/Level{level}/CellData/pressure"][...] *= 0.5
                del first[f"VTKHDF/Level{level}/CellData/velocity"]
        cls.page = Page(write_view(cls.folder))
        with Plotfile(cls.folder / "plot.vtkhdf") as plot:
            cls.speed, cls.pressure = np.linalg.norm(plot.uniform("velocity"), axis=-1), plot.uniform("pressure")

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def test_it_needs_nothing_from_elsewhere(self):
        self.assertLess(len(self.page.text), 10e6)
        self.assertIn("default-src 'none'", self.page.text)
        for word in ("http:", "https:", "//cdn", "@import", "url(", " src=", "<link", "fetch(", "XMLHttpRequest", "import("):
            self.assertNotIn(word, self.page.text.replace("'none'; script-src", ""))
        self.assertNotIn("{{", self.page.text)
        self.assertIn("<h1>a sphere</h1>", self.page.text)
        self.assertIn("1 × 1 × 1 mm", self.page.text)

    def test_fields_have_units_extrema_and_times(self):
        pressure, speed = self.page.scene["fields"]  # that of all plotfiles first
        self.assertEqual([pressure["label"], speed["label"], speed["unit"]], ["pressure", "speed", "m/s"])
        self.assertEqual([frame["time"] for frame in self.page.scene["frames"]], [0.25, 0.5])
        self.assertAlmostEqual(speed["high"], np.nanmax(self.speed), places=6)
        self.assertAlmostEqual(pressure["low"], 0.5 * np.nanmin(self.pressure), places=6)
        for field, expected in ((0, self.pressure), (1, self.speed)):
            about, there = self.page.scene["fields"][field], np.isfinite(expected)
            off = np.abs(self.page.values(1, field) - expected)[there].max()
            self.assertLessEqual(off, 0.51 / 255 * (about["high"] - about["low"]))
            self.assertAlmostEqual(self.page.values(1, field)[there].max(), about["high"], places=6)
        np.testing.assert_allclose(self.page.values(0, 0)[there], 0.5 * self.pressure[there], atol=2 / 255)
        self.assertEqual(*(frame["fields"][1] for frame in self.page.scene["frames"]))  # a steady flow is held once

    def test_the_wall_is_a_closed_sphere_with_fluid_outside(self):
        wall = self.page.scene["frames"][1]["wall"]
        points, corners = self.page.points(wall["points"]), self.page.array(wall["corners"], 4).reshape(-1, 3)
        self.assertEqual(len(corners), wall["triangles"])
        area, volume = area_and_volume(points, corners)
        radius = test_drawing.RADIUS * EDGE
        self.assertLess(abs(area / (4 * np.pi * radius**2) - 1), 0.02)
        self.assertLess(abs(volume / (4 / 3 * np.pi * radius**3) - 1), 0.02)  # > 0: triangles look into the fluid
        edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
        self.assertTrue((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())

    def test_large_data_are_averaged_and_walls_simplified(self):
        from karst import surface
        from karst.plot import scene
        page = Page(write_view(self.folder, self.folder / "small.html", fields=["pressure"], max_cells=16))
        self.assertEqual((page.scene["cells"], page.scene["reach"][0]), ([14] * 3, 14 * 3 * EDGE / 40))  # 40 = 13 x 3 + 1
        self.assertIn("40 × 40 × 40 cells, averaged over 3 × 3 × 3, 1 of 2 fields", page.text)
        deep = [slice(0, 3)] * 3
        self.assertAlmostEqual(page.values(1, 0)[0, 0, 0], np.nanmean(self.pressure[tuple(deep)]), delta=1 / 255)
        with Plotfile(self.folder / "plot.vtkhdf") as plot:
            wall = surface.wall_surface(scene.wall_of(plot, scene.grid_of(plot, 40)), np.ones(3))
        few = surface.simplified(wall, 1000)
        self.assertLess(few.GetNumberOfPolys(), 1100)

    def test_streamlines_follow_the_flow(self):
        lines = self.page.scene["frames"][0]["lines"]["velocity"]
        points, counts = self.page.points(lines["points"]), self.page.array(lines["counts"], 4)
        self.assertEqual(counts.sum(), len(points))
        ends = np.cumsum(counts)
        ways = np.array([points[last - 1] - points[last - n] for n, last in zip(counts, ends)])
        long = ways[np.linalg.norm(ways, axis=1) > 0.2 * EDGE]
        self.assertGreater(len(long), 5)
        ways = long / np.linalg.norm(long, axis=1)[:, None]
        self.assertGreater(np.median(np.abs(ways @ np.array([1, 2, 3]) / np.sqrt(14))), 0.99)

    def test_what_is_wrong_is_said(self):
        with tempfile.TemporaryDirectory() as empty:
            for arguments, words in (((empty,), "contains no plotfile"), ((f"{empty}/none",), "does not exist")):
                with self.assertRaisesRegex(KarstError, words):
                    write_view(*arguments)
        with self.assertRaisesRegex(KarstError, "no field 'sped' to show; it has: pressure, velocity"):
            write_view(self.folder, fields=["sped"])
        with self.assertRaisesRegex(KarstError, "allowed are 4 to 512"):
            write_view(self.folder, max_cells=3)
        with self.assertRaisesRegex(KarstError, "cannot be written"):
            write_view(self.folder, self.folder / "none/view.html", max_cells=8)


class Program(unittest.TestCase):
    def call(self, *words, python=sys.executable):
        environment = {**os.environ, "KARST_PYTHON": python, "PYTHONPATH": str(test_drawing.ROOT / "python")}
        return subprocess.run([KARST, *words], capture_output=True, text=True, env=environment, cwd=self.folder)

    def test_the_report_says_how_to_make_the_view_and_then_links_to_it(self):
        with tempfile.TemporaryDirectory() as self.folder:
            (Path(self.folder) / "ball.toml").write_text(DECK)
            run = self.call("run", "ball.toml", "--out", "out")
            self.assertEqual(run.returncode, 0, run.stderr)
            report = Path(self.folder) / "out/report.html"
            self.assertIn("<code>karst view .</code>", report.read_text())
            missing = Path(self.folder) / "python"
            missing.write_text("#!/bin/sh\nexit 69\n")
            missing.chmod(0o755)
            failed = self.call("view", "out", python=str(missing))
            self.assertEqual(failed.returncode, 1)
            self.assertIn("pip install './python[plot]'", failed.stderr)
            failed = self.call("view", "none")
            self.assertEqual((failed.returncode, failed.stderr), (1, "error: none: does not exist; give the directory of a run, or a plotfile\n"))
            made = self.call("view", "out")
            self.assertEqual((made.returncode, made.stdout), (0, "out/view.html\n"), made.stderr)
            self.assertEqual([field["label"] for field in Page(report.parent / "view.html").scene["fields"]], ["speed", "pressure"])
            linked = report.read_text()
            self.assertIn('<a href="view.html">', linked)
            self.assertNotIn("<code>karst view", linked)
            self.assertEqual(self.call("report", "out").returncode, 0)
            self.assertEqual(report.read_text(), linked)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""The Python package: decks, runs, tables, summaries, geometry files; the code of docs/python.md; the wheel.

usage: test_package.py FOLDER_OF_THE_PROGRAMS
"""
import ast
import contextlib
import doctest
import importlib
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import zipfile
from pathlib import Path

import h5py
import karst
import numpy as np
from karst.deck import overrides
from karst.plot import __main__ as pictures

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/python.md").read_text()
os.environ["KARST_BUILD"] = str(Path(sys.argv.pop(1)).resolve())
os.environ["OMP_NUM_THREADS"] = "1"

BALL = {"geometry": {"solid": [{"shape": "sphere", "center": [0.5e-3] * 3, "radius": 0.3e-3}]},
        "grid": {"cells": [8, 8, 8], "size": [1e-3] * 3, "periodic": [True, True, True], "box": 8},
        "flow": {"model": "unsteady-stokes", "drive": "pressure-gradient", "axes": ["x"]},
        "time": {"end": 0.004, "dt": 0.001, "output": 0.002}, "output": {"plot": ["fraction", "velocity"]}}


class InFolder(unittest.TestCase):
    """Works in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.before = os.getcwd()
        os.chdir(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()


class Decks(InFolder):
    def test_toml_holds_what_the_dictionary_does(self):
        decks = sorted((ROOT / "inputs").rglob("*.toml"))
        self.assertGreater(len(decks), 20)
        for path in decks:
            deck = karst.read_deck(path)
            self.assertEqual(tomllib.loads(karst.to_toml(deck)), deck, path)

    def test_values(self):
        values = {"a": True, "n": 3, "x": 1e-30, "t": 'a "b"\\c\nd\x7f', "l": [[1, 2], []], "none": None, "p": Path("x/y"),
                  "v": np.arange(3.0), "s": np.float32(0.5), "t2": {"empty": {}, "q r": 1}}
        read = tomllib.loads(karst.to_toml(values))
        self.assertEqual(read, {"a": True, "n": 3, "x": 1e-30, "t": 'a "b"\\c\nd\x7f', "l": [[1, 2], []], "p": "x/y",
                                "v": [0.0, 1.0, 2.0], "s": 0.5, "t2": {"empty": {}, "q r": 1}})
        with self.assertRaisesRegex(karst.KarstError, "grid.cells: a deck contains .*not complex"):
            karst.to_toml({"grid": {"cells": 1j}})

    def test_overrides_are_words_of_the_command_line(self):
        self.assertEqual(overrides({"grid.box": 8, "flow": {"axes": ["x"], "model": "stokes"}, "geometry": {"solid": [{"radius": 1e-4}]}}),
                         ["grid.box=8", 'flow.axes=["x"]', 'flow.model="stokes"', "geometry.solid[0].radius=0.0001"])

    def test_written_decks_are_checked(self):
        path = karst.write_deck(BALL, "ball.toml")
        before = path.read_text()
        with self.assertRaises(karst.RunError) as caught:
            karst.write_deck({**BALL, "grdi": {"cells": 3}, "flow": {"model": "fast"}}, "ball.toml")
        for word in ("ball.toml", "grdi", "did you mean", "flow.model", "stokes"):  # all mistakes at once
            self.assertIn(word, str(caught.exception))
        self.assertNotIn(".ball.toml.new", str(caught.exception))
        self.assertEqual(caught.exception.status, 1)
        self.assertEqual((path.read_text(), os.listdir(".")), (before, ["ball.toml"]))
        with self.assertRaisesRegex(karst.KarstError, "is not valid TOML"):
            Path("bad.toml").write_text("a = ")
            karst.read_deck("bad.toml")


class Runs(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.results = karst.run(BALL, out="ball", threads=1)

    def test_the_folder_of_the_run(self):
        self.assertEqual([name for name in os.listdir(".") if name.endswith(".toml")], [])  # the deck was a passing file
        self.assertEqual(self.results.summary.status, "completed")
        self.assertEqual(set(self.results.files), set(os.listdir("ball")))
        self.assertEqual(self.results.deck["time"]["end"], 0.004)
        with self.assertRaisesRegex(karst.KarstError, "has no transport.csv; it has: .*history.csv"):
            self.results.table("transport.csv")

    def test_table_is_the_file(self):
        table = self.results.table("history.csv")
        lines = Path("ball/history.csv").read_text().splitlines()
        self.assertEqual(list(table), lines[0].split(","))
        np.testing.assert_array_equal(table.to_array(), [[float(x) for x in line.split(",")] for line in lines[1:]])
        np.testing.assert_allclose(table["time_s"], [0.001, 0.002, 0.003, 0.004])
        self.assertEqual((table.unit("darcy_velocity_x_m_s"), table.unit("power_W_m3"), table.unit("divergence")), ("m/s", "W/m3", "1"))

    def test_series_in_order_of_time(self):
        folder = Path("plotfiles")
        folder.mkdir()
        for name in ("output_0001.vtkhdf", "plot.vtkhdf"):
            (folder / name).symlink_to(Path("ball", name).resolve())
        series = karst.Series(folder)
        self.assertEqual([path.name for path in series.paths], ["output_0001.vtkhdf", "plot.vtkhdf"])
        speeds = [np.nanmean(plot.uniform("velocity")[..., 0]) for plot in series]
        self.assertGreater(speeds[1], 1.01 * speeds[0])  # from rest
        listed = folder / "backwards.vtkhdf.series"
        listed.write_text(json.dumps({"file-series-version": "1.0", "files": [{"name": "plot.vtkhdf", "time": 0.004}, {"name": "output_0001.vtkhdf", "time": 2e-3}]}))
        self.assertEqual([path.name for path in karst.Series(listed).paths], ["plot.vtkhdf", "output_0001.vtkhdf"])
        np.testing.assert_array_equal(karst.Series(folder).times, [0.004, 0.002])  # the list in the folder
        with karst.Series(listed).nearest(0.0029) as plot:
            self.assertAlmostEqual(np.nanmean(plot.uniform("velocity")[..., 0]), speeds[0])
        listed.write_text('{"files": [{"name": "none.vtkhdf", "time": 0}]}')
        with self.assertRaisesRegex(karst.KarstError, "do not exist: .*none.vtkhdf"):
            karst.Series(listed)

    def test_summary_by_name_and_unit(self):
        summary, raw = self.results.summary, json.loads(Path("ball/summary.json").read_text())
        self.assertEqual(summary.flow_in_time.darcy_velocity_m_s.tolist(), raw["flow_in_time"]["darcy_velocity_m_s"])
        self.assertEqual(summary.unit("specific_surface_per_m"), "1/m")
        found = {place: (value, unit) for place, value, unit in summary.quantities()}
        self.assertEqual(found["levels[0].cell_width_m"], (1e-3 / 8, "m"))
        self.assertEqual((found["seconds.total"][1], found["memory.solver"][1], summary.memory.unit("fields")), ("s", "bytes", "bytes"))
        self.assertIn("percolates", dir(summary))
        with self.assertRaisesRegex(AttributeError, r"no result 'porsity' \(did you mean 'porosity'\?\); there are: karst, deck"):
            summary.porsity  # noqa: B018
        holes = karst.Summary({"k": [[1.0, None], [2.0, 3]], "uneven": [[1.0], [2.0, 3.0]], "words": ["x"]})
        np.testing.assert_array_equal(holes.k, [[1.0, np.nan], [2.0, 3.0]])
        self.assertEqual((holes.words, len(holes.uneven)), (["x"], 2))

    def test_an_array_is_run_and_shows_its_progress(self):
        pore = np.kron(np.random.default_rng(1).random((3, 3, 3)) < 0.6, np.ones((6, 6, 6), bool))
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            results = karst.run(pore, "array", voxel="5 um", threads=1, progress=True, flow={"axes": ["z"], "tolerance": 1e-4})
        self.assertRegex(shown.getvalue(), r"\rarray: .*\rarray: completed after \d+ s\s*\n\Z")
        np.testing.assert_array_equal(karst.Geometry("array.h5").phase() == 0, pore)
        self.assertEqual(results.to_xarray("fraction").sizes, {"z": 18, "y": 18, "x": 18})
        labels = np.where(pore, 0, np.where(np.arange(18) < 9, 7, 3))
        named = karst.run(labels, "labels", voxel=5e-6, names={3: "quartz", 7: "calcite"}, threads=1, flow={"axes": ["z"], "tolerance": 1e-4})
        self.assertEqual([mineral.name for mineral in named.summary.minerals], ["quartz", "calcite"])
        some = np.ma.masked_array(pore.astype(np.uint8), mask=np.arange(pore.size).reshape(pore.shape) < 3)
        for array, message in ((some, "masked: 3 of its .* voxels have no value"), (pore.astype(float), "float64.*import_image"), (np.arange(64).reshape(4, 4, 4), "64 different values"),
                               (pore[0], "three dimensions"), (labels + 1, "has no pore")):
            with self.assertRaisesRegex(karst.KarstError, message):
                karst.run(array, "none", voxel=5e-6)
        with self.assertRaisesRegex(karst.KarstError, "names: has none for the labels 7"):
            karst.run(labels, "none", voxel=5e-6, names={3: "quartz"})
        with self.assertRaisesRegex(karst.KarstError, "voxel: the width"):
            karst.run(pore, "none")
        with self.assertRaisesRegex(karst.KarstError, "geometry.image: an array of voxels"):
            karst.run({"geometry": {"image": pore}}, "none")

    def test_options_that_do_not_exist_are_matched_to_the_nearest(self):
        for act, message in ((lambda: karst.run(BALL, "none", thread=1), "did you mean 'threads'"), (lambda: karst.run_study({}, "none", paralel=2), "did you mean 'parallel'"),
                             (lambda: karst.make_image("x.tif", sise=3), r"'sise' \(did you mean '.*size'"),
                             (lambda: karst.import_image("x.tif", "x.h5", segmnt="otsu"), "did you mean --segment")):
            with self.assertRaisesRegex(karst.KarstError, message):
                act()

    def test_progress_is_that_of_the_file_of_the_run(self):
        Path("at_work").mkdir()
        Path("at_work/karst.lock").write_text('process 1 on host\n{"begun_s":1,"told_s":2,"part":0.25,"left_s":90.0,"what":"transport","note":"step 3"}')
        self.assertEqual(str(karst.read_progress("at_work")), "25%, about 90 s left: transport; step 3")
        Path("at_work/karst.lock").write_text('process 1 on host\n{"begun_s":1,"told_s":2,"part":0.0,"left_s":null,"what":"flow","note":""}')
        self.assertEqual(karst.read_progress("at_work"), karst.Progress(0.0, None, "flow", ""))
        self.assertIsNone(karst.read_progress("ball"))

    def test_a_study_is_a_frame(self):
        study = {"title": "radii", "deck": {**BALL, "time": {"end": 0.002, "dt": 0.001}}, "columns": ["porosity", "flow_in_time.darcy_velocity_m_s[0]"],
                 "vary": [{"key": "geometry.solid[0].radius", "values": [2e-4, 3e-4], "name": "radius"}]}
        found = karst.run_study(study, "study", threads=1)
        frame = found.to_pandas()
        self.assertEqual((list(frame.index), list(frame["status"]), list(frame["radius"])), (["case_001", "case_002"], ["completed"] * 2, [2e-4, 3e-4]))
        np.testing.assert_allclose(frame["porosity"], [results.summary.porosity for _, results in found.items()])
        self.assertEqual(frame.attrs["units"]["flow_in_time.darcy_velocity_m_s[0]"], "m/s")
        self.assertEqual(found[-1].folder, Path("study/case_002"))
        begun = Path("study/case_001/summary.json").stat().st_mtime_ns
        karst.run_study(study, "study", threads=1)  # nothing is run again
        self.assertEqual(Path("study/case_001/summary.json").stat().st_mtime_ns, begun)
        for act, message in ((lambda: found["case_009"], "did you mean 'case_001'|did you mean 'case_002'"), (lambda: found[2], "2 cases"), (lambda: karst.Study("ball"), "study.json")):
            with self.assertRaisesRegex(karst.KarstError, message):
                act()

    def test_ranks_give_the_same(self):
        both = karst.run(BALL, out="two", threads=1, ranks=2)
        self.assertEqual((both.summary.ranks, self.results.summary.ranks), (2, 1))
        np.testing.assert_allclose(both.table("history.csv")["flow_rate_m3_s"], self.results.table("history.csv")["flow_rate_m3_s"], rtol=1e-6)

    def test_errors_are_those_of_the_program(self):
        with self.assertRaisesRegex(karst.RunError, r"(?s)\Acommand line: grid\.cells.*fluid\.viscosity") as caught:
            karst.run(BALL, out="bad", fluid={"viscosity": -1}, grid={"cells": [0, 8, 8]})
        self.assertFalse(Path("bad").exists())
        self.assertNotIn("error:", str(caught.exception))
        with self.assertRaisesRegex(karst.RunError, "overwrite"):
            karst.run(BALL, out="ball")
        with self.assertRaisesRegex(karst.RunError, "overwrite"):
            karst.run(BALL, out="ball", ranks=2)
        with self.assertRaisesRegex(karst.KarstError, "program karst not found in /nowhere .environment variable KARST_BUILD"):
            os.environ["KARST_BUILD"], folder = "/nowhere", os.environ["KARST_BUILD"]
            try:
                karst.find_program()
            finally:
                os.environ["KARST_BUILD"] = folder

    def test_a_run_is_stopped_in_order_and_goes_on(self):
        long = {**BALL, "time": {"end": 0.3, "dt": 0.001}}
        run = karst.start(long, out="long", threads=1)
        while run.is_running and not list(Path("long").rglob("history.csv")):
            time.sleep(0.02)
        run.stop()
        with self.assertRaises(karst.RunError) as caught:
            run.wait()
        self.assertEqual(caught.exception.status, 130)
        self.assertEqual(karst.Summary.read("long").status, "interrupted")
        self.assertLess(karst.Table("long/history.csv").n_rows, 300)
        with self.assertRaisesRegex(karst.RunError, "resume"):
            karst.run(long, out="long", threads=1)
        self.assertEqual(karst.run(long, out="long", threads=1, resume=True).table("history.csv").n_rows, 300)

    def test_a_run_of_another_array_does_not_go_on_from_the_first(self):
        pore = np.zeros((8, 8, 8), bool)
        pore[2:6, 2:6] = True
        flow = {"axes": ["x"], "estimate_error": False}
        with self.assertRaises(karst.RunError):
            karst.run(pore, "other", voxel=5e-6, threads=1, flow=flow, run={"time_limit": 1e-4})
        resumed = karst.run(pore, "other", voxel=1e-5, threads=1, flow=flow, resume=True)
        fresh = karst.run(pore, "fresh", voxel=1e-5, threads=1, flow=flow)
        self.assertEqual(resumed.summary.permeability_m2[0, 0], fresh.summary.permeability_m2[0, 0])


class Tables(InFolder):
    def test_holes_texts_and_the_last_line_of_a_run_at_work(self):
        Path("inertia.csv").write_text("axis,step,permeability_m2\nx,1,2e-12\ny,1,\nx,2,1e-12\nx,3")
        table = karst.Table("inertia.csv")
        self.assertEqual(table.n_rows, 3)
        self.assertEqual(table["axis"].tolist(), ["x", "y", "x"])
        self.assertTrue(np.isnan(table["permeability_m2"][1]))
        np.testing.assert_array_equal(table.rows(axis="x")["permeability_m2"], [2e-12, 1e-12])
        with self.assertRaisesRegex(KeyError, "no column 'axes'.*axis, step"):
            table["axes"]
        Path("bad.csv").write_text("a,b\n1\n1,2\n")
        for name, message in (("none.csv", "cannot be read"), ("bad.csv", "bad.csv:2: has 1 entries, its first line 2")):
            with self.assertRaisesRegex(karst.KarstError, message):
                karst.Table(name)

    def test_concentrations_have_the_unit_of_the_deck(self):
        Path("transport.csv").write_text("time_s,tracer_outlet,tracer_inflow_C_m3_s,tracer_imbalance\n1,2,3,4\n")
        Path("profiles.csv").write_text("time_s,pore_volumes,position_m,a_m\n1,2,3,4\n")
        self.assertEqual(karst.Table("transport.csv").units, {"time_s": "s", "tracer_outlet": "C", "tracer_inflow_C_m3_s": "C m3/s", "tracer_imbalance": "1"})
        self.assertEqual(karst.Table("profiles.csv").units, {"time_s": "s", "pore_volumes": "1", "position_m": "m", "a_m": "C"})


class Images(InFolder):
    def test_an_array_is_an_image(self):
        image = np.ones((6, 7, 8), np.uint8)  # z, y, x
        image[:, 2:5, 3:6] = 0
        image[1, 3, 4] = 1
        rock = karst.import_image(image, "rock.h5", voxel="3 um", pore=0, smoothing=0, page=False)
        self.assertEqual(rock.shape, image.shape)
        np.testing.assert_allclose(rock.size, [24e-6, 21e-6, 18e-6])
        np.testing.assert_array_equal(rock.phase(), image)
        np.testing.assert_array_equal(rock.phase(np.s_[1]), image[1])
        np.testing.assert_array_equal(rock.wall_distance() > 0, image == 0)
        np.testing.assert_array_equal(rock.level_set() > 0, image == 0)
        np.testing.assert_allclose(rock.centres("x"), (np.arange(8) + 0.5) * 3e-6)
        with self.assertRaisesRegex(karst.KarstError, "the part 6 is not in the array 'phase'"):
            rock.phase(6)
        self.assertEqual((rock.phases, rock.voxel_porosity), ({"pore": 0, "solid": 1}, (image == 0).mean()))
        self.assertFalse(Path("rock.html").exists())
        with self.assertRaisesRegex(karst.RunError, "voxel"):
            karst.import_image(image, "other.h5", pore=0)
        with h5py.File("text.h5", "w"), self.assertRaisesRegex(karst.KarstError, "geometry file"):
            karst.Geometry("text.h5")


class Page(InFolder):
    def test_code_of_the_page(self):
        """Block after block in one program, as a reader would; the pictures after it. (porespy_check.py runs what needs PoreSpy.)"""
        blocks = re.findall(r"```(python|sh)\n(.*?)```", PAGE, re.S)
        code = "import os; os.makedirs('out/python')\n" + "\n".join(text for kind, text in blocks if kind == "python" and "porespy" not in text)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("grid.bxo", done.stdout)
        for command in next(text for _, text in blocks if "karst.plot" in text).splitlines():
            words = command.removeprefix(".venv/bin/python -m karst.plot ").split()
            pictures.main(words + ["--size", "300", "--max-cells", "64"] * (words[0] == "wall"))
            self.assertGreater(Path(words[-1]).stat().st_size, 5000)


class Wheel(InFolder):
    def test_version_is_that_of_the_project(self):
        version = re.search(r"project\(karst VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(karst.__version__, version)

    def test_wheel_holds_the_package_and_runs_alone(self):
        subprocess.run([ROOT / "tools/build_wheel.sh", os.getcwd()], check=True, capture_output=True)
        wheel = Path(f"karst-{karst.__version__}-py3-none-any.whl")
        names = zipfile.ZipFile(wheel).namelist()
        self.assertEqual({name for name in names if name.endswith(".py")},
                         {str(path.relative_to(ROOT / "python")) for path in (ROOT / "python/karst").rglob("*.py")})
        self.assertTrue(any(name.endswith("LICENSE") for name in names))
        about = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("METADATA"))).decode()
        self.assertEqual(re.findall(r"^Requires-Dist: (\w+)", about, re.M)[:3], ["numpy", "h5py", "tomli"])
        entries = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
        self.assertEqual(entries.split(), ["[pyvista.readers.override]", ".vtkhdf=karst.export:read_pyvista"])
        done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path += {[str(wheel), *self.packages()]}; import karst; print(karst.__file__)"],
                              capture_output=True, text=True)
        self.assertIn("any.whl", done.stdout, done.stderr)

    def test_modules_are_for_the_oldest_python_asked_for(self):
        oldest = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (ROOT / "python/pyproject.toml").read_text())
        for path in (ROOT / "python/karst").rglob("*.py"):
            tree = ast.parse(path.read_text(), feature_version=tuple(map(int, oldest.groups())))
            hints = [hint for node in ast.walk(tree) for name in ("annotation", "returns") if (hint := getattr(node, name, None))]
            in_hints = {part for hint in hints for part in ast.walk(hint)}
            unions = {part for part in ast.walk(tree) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr)}
            if unions & in_hints:  # str | Path is evaluated only from 3.10 on
                self.assertTrue("from __future__ import annotations" in path.read_text(), f"{path}: add `from __future__ import annotations`")
            for part in unions - in_hints:
                types = [side for side in (part.left, part.right) if ast.unparse(side) in ("None", "str", "int", "float", "list", "dict", "tuple")]
                self.assertEqual(types, [], f"{path}:{part.lineno}: take Optional or Union of typing here")

    @staticmethod
    def packages():
        return [str(Path(np.__file__).parents[1])]


def load_tests(loader, tests, pattern):
    for module in pkgutil.walk_packages(karst.__path__, "karst."):
        if not module.name.startswith("karst.plot."):
            tests.addTests(doctest.DocTestSuite(importlib.import_module(module.name)))
    return tests


if __name__ == "__main__":
    unittest.main()

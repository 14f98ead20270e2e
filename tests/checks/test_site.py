# SPDX-License-Identifier: BSD-3-Clause
"""All links of the pages are valid, in the project and in the sources of the site; every example is in the gallery."""
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import site_pages as site  # noqa: E402


class Site(unittest.TestCase):
    def test_links_of_the_project(self):
        self.assertGreater(sum(len(site.links((ROOT / page).read_text())) for page in site.pages(ROOT)), 200)
        self.assertEqual(list(site.faults(ROOT)), [])

    def test_canary(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            (root / "docs/a.md").write_text("# A `page`: one\n[b](b.md) [r](../README.md) [up](../../x.md)\n```sh\n[no](link.md)\n```\n")
            (root / "python/notebooks").mkdir(parents=True)
            cell = {"cell_type": "markdown", "source": ["# N\n", "[gone](gone.ipynb)"]}
            (root / "python/notebooks/n.ipynb").write_text(json.dumps({"cells": [cell]}))
            (root / "README.md").write_text("[a](docs/a.md#a-page-one) [a](docs/a.md#two) [![p](p.png)](docs) [w](https://example.org)\n")
            self.assertEqual([(page, what.split(":")[0]) for page, what in site.faults(root)],
                             [("README.md", "docs/a.md#two"), ("README.md", "p.png"), ("docs/a.md", "b.md"), ("docs/a.md", "../../x.md"), ("python/notebooks/n.ipynb", "gone.ipynb")])

    def test_links_of_the_sources_of_the_site(self):
        with tempfile.TemporaryDirectory() as folder:
            staged, outputs = Path(folder) / "site", Path(folder) / "outputs"
            outputs.mkdir()
            for notebook in ROOT.glob("python/notebooks/*.ipynb"):  # as tools/notebook_pages.py leaves them
                (outputs / f"{notebook.stem}.md").write_text(f"# {notebook.stem}\n[other](study.ipynb) [all keys](../../docs/inputs.md)\n![p]({notebook.stem}_1.png)\n")
                (outputs / f"{notebook.stem}_1.png").touch()
            names = site.write_sources(ROOT, staged, outputs)
            self.assertIn("[other](study.md)", (staged / "python/notebooks/tracer.md").read_text())
            self.assertIn("[tracer.ipynb](tracer.md)", (staged / "python/notebooks/README.md").read_text())
            self.assertGreater(len(names), 80)
            seen = 0
            for name in names:
                for target in site.links((staged / name).read_text()):
                    if not re.match(r"[a-z]+:|#", target):
                        seen += 1
                        place = (staged / name).parent / target.partition("#")[0]
                        self.assertTrue(place.is_file(), f"{name}: {target}")
            self.assertGreater(seen, 200)
            # every page is in a menu, once
            listed = [(Path(name).parent / line.removesuffix(".md")).as_posix() + ".md" for name in names
                      for text in re.findall(r"```{toctree}\n(.*?)```", (staged / name).read_text(), re.S)
                      for line in text.splitlines() if line and not line.startswith(":")]
            self.assertEqual(sorted(listed), sorted(set(names) - {"index.md"}))

    def test_tests_that_pages_name_are_there(self):
        sources = "\n".join(path.read_text() for path in (ROOT / "tests/unit").rglob("*.cpp"))
        there = {f"{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_F|_P)?\((\w+), (\w+)\)", sources)}
        suites = {name.partition(".")[0] for name in there}
        named = {(page, name) for page in site.pages(ROOT) if page.startswith("docs/")
                 for name in re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", (ROOT / page).read_text())}
        self.assertGreater(len(named), 60)
        self.assertEqual(sorted((page, name) for page, name in named if name.partition(".")[0] in suites and name not in there), [])

    def test_figures_of_the_first_pages(self):
        """A figure that is a link stands on the page that it links to."""
        seen = 0
        for page in [ROOT / site.FIRST, *sorted((ROOT / "docs/tasks").glob("*.md"))]:
            for _, text, target in site.LINK.findall(page.read_text()):
                if re.match(r"[-+]?\d|.*(second|minute)", text):
                    seen += 1
                    known = (page.parent / target.partition("#")[0]).resolve().read_text()
                    self.assertRegex(known, rf"(?i)(?<![\d.]){re.escape(text)}(?!\d)", f"{page.name}: {text} in {target}")
        self.assertGreater(seen, 30)

    def test_every_example_is_in_the_gallery(self):
        examples = site.examples(ROOT)
        self.assertEqual({example.page for example in examples}, {f"inputs/{path.parent.name}/README.md" for path in ROOT.glob("inputs/*/*.toml")})
        for example in examples:
            self.assertRegex(example.sentence, r"^[A-Z0-9`].{20,300}[.:]$")
            self.assertTrue(not example.picture or (ROOT / example.picture).is_file())
        self.assertGreaterEqual(sum(bool(example.picture) for example in examples), 0.8 * len(examples))


if __name__ == "__main__":
    unittest.main()

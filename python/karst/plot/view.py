# SPDX-License-Identifier: BSD-3-Clause
"""Makes a page to turn results in a browser: wall, streamlines, slices and fields, over the time of a transient run.

One HTML file that needs no network and no other file, below 10 MB: it can be sent by mail and opened on a phone. It is read from the plotfiles
of a run: of its folder, of one file, or of a list NAME.vtkhdf.series.
"""
from __future__ import annotations

import argparse
import base64
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

from karst.error import KarstError
from karst.optional import needs
from karst.plotfile import Plotfile, length_unit
from karst.series import Series

CELLS = 160  # along the longest edge
VALUES = 40_000_000  # in all arrays before they are packed
LARGEST = 9_500_000  # bytes of the page
FRAMES = 24
FIELDS = 8
HERE = Path(__file__).parent
LINK = re.compile(r'<p class="view">.*?</p>')  # of the report, by src/app/run/run_report.cpp


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", metavar="DIR", help="the directory of a run, a plotfile, or a list NAME.vtkhdf.series")
    parser.add_argument("-o", "--output", help="page to write (default: view.html in DIR or next to the file)")
    parser.add_argument("--fields", nargs="+", metavar="NAME", help=f"arrays to show (default: the first {FIELDS})")
    parser.add_argument("--max-cells", type=int, default=CELLS,
                        help=f"maximum number of cells per direction; larger data are averaged (default {CELLS})")


def draw(options: argparse.Namespace) -> None:
    print(write_view(options.results, options.output, fields=options.fields, max_cells=options.max_cells))


class Some:
    """Plotfiles of a series, evenly spaced in their order: the last, and the first if there are several."""

    def __init__(self, paths: Sequence[Path], most: int):
        n = min(len(paths), most)
        self.paths = [paths[-1 if n == 1 else round(k * (len(paths) - 1) / (n - 1))] for k in range(n)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, number):
        return Plotfile(self.paths[number])

    def __iter__(self):
        for path in self.paths:
            with Plotfile(path) as plot:
                yield plot


def plotfiles_of(place):
    """Paths of the plotfiles in order of time."""
    if place.is_dir():
        if not any(place.glob("*.vtkhdf")):
            raise KarstError(f"{place}: contains no plotfile (*.vtkhdf); give the directory of a `karst run` whose output.plot is not empty")
        if not any(place.glob("*.vtkhdf.series")) and not (place / "plot.vtkhdf").exists():
            return sorted(place.glob("*.vtkhdf"))[:1]
        return Series(place).paths
    if not place.exists():
        raise KarstError(f"{place}: does not exist; give the directory of a run, or a plotfile")
    return Series(place).paths if place.suffix == ".series" else [place]


def chosen(series, wanted):
    """Names of the arrays to show, and how many there are."""
    from karst.plot.scene import fields_in
    there = [shown.array for shown in fields_in(series)]
    unknown = [name for name in wanted or [] if name not in there]
    if unknown:
        raise KarstError(f"{series.paths[-1]}: has no field '{unknown[0]}' to show; it has: {', '.join(there) or 'none'}")
    return wanted or there[:FIELDS], len(there)


def heading(plot, folder, size):
    """Title, and a line with the deck, the size of the sample and its cells."""
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        summary = {}
    deck = Path(str(summary.get("deck", ""))).name
    factor, unit = length_unit(max(size))
    words = [*([deck] if deck else []), " × ".join(f"{edge * factor:.4g}" for edge in size) + f" {unit}",
             " × ".join(str(n) for n in plot.levels[-1].cells) + " cells"]
    return plot.title or deck or folder.resolve().name, ", ".join(words)


def left_out(scene, plot, series, paths, fields):
    """What the page does not show of the plotfiles, in words."""
    factor = round(float(scene["reach"][0] / scene["cells"][0] / plot.levels[-1].dx))
    words = [f", averaged over {factor} × {factor} × {factor}"] if factor > 1 else []
    if len(series) < len(paths):
        words.append(f", {len(series)} of {len(paths)} plotfiles")
    if len(scene["fields"]) < fields:
        words.append(f", {len(scene['fields'])} of {fields} fields")
    return "".join(words)


def page_of(scene, arrays, title, line):
    """The HTML page."""
    import matplotlib
    colours = (matplotlib.colormaps["viridis"](range(256))[:, :3] * 255).round().astype("uint8").tobytes()
    about = json.dumps({**scene, "colours": base64.b64encode(colours).decode()}, ensure_ascii=False, separators=(",", ":"))
    script = "".join((HERE / name).read_text(encoding="utf-8") for name in ("view_gl.js", "view.js"))
    parts = {"TITLE": html.escape(title), "LINE": html.escape(line), "STYLE": (HERE / "view.css").read_text(encoding="utf-8"),
             "SCENE": about.replace("<", "\\u003c"), "SCRIPT": script,
             "ARRAYS": "\n".join(f'<script type="text/plain" id="array{n}">{text}</script>' for n, text in enumerate(arrays.texts))}
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], (HERE / "view.html").read_text(encoding="utf-8"))


def link_from_report(folder, output):
    """The report of the run links to the page from now on."""
    report = folder / "report.html"
    if output.parent.resolve() != folder.resolve() or not report.is_file():
        return
    text = report.read_text(encoding="utf-8")
    linked = LINK.sub(lambda _: f'<p class="view"><a href="{html.escape(output.name)}">Wall, streamlines and slices to turn</a></p>', text, count=1)
    if linked != text:
        write(report, linked)


def write(path, text):
    unfinished = Path(f"{path}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as problem:
        raise KarstError(f"{path}: cannot be written ({problem.strerror})") from None


def write_view(results: str | Path, output: str | Path | None = None, *, fields: Sequence[str] | None = None, max_cells: int = CELLS) -> Path:
    """Writes the page and returns its path. Raises KarstError."""
    if not 4 <= max_cells <= 512:
        raise KarstError(f"--max-cells {max_cells}: allowed are 4 to 512")
    place = Path(results)
    paths = plotfiles_of(place)
    folder = place if place.is_dir() else place.parent
    path = Path(output) if output else folder / "view.html"
    needs("vtkmodules.util.numpy_support", "a view")
    from karst.plot.scene import scene_of
    series = Some(paths, FRAMES)
    names, there = chosen(series, fields)
    with series[-1] as plot:
        title, line = heading(plot, folder, plot.size)
    limit = min(max_cells, int((VALUES / (len(series) * (len(names) + 1))) ** (1 / 3)))
    while True:
        scene, arrays = scene_of(series, names, limit)
        with series[-1] as plot:
            page = page_of(scene, arrays, title, line + left_out(scene, plot, series, paths, there))
        if len(page.encode()) <= LARGEST or limit < 16:
            break
        limit = int(0.8 * limit)
    write(path, page)
    link_from_report(folder, path)
    return path

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the notebooks of the project and writes each as a page of Markdown with its output and pictures: tools/notebook_pages.py FOLDER
(tools/site.sh makes the pages of the site with it). tests/checks/run_notebooks.py runs them by the same functions. Needs matplotlib, not Jupyter.
"""
import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "python/notebooks"
DPI = 110  # of pictures


@dataclass
class Cell:
    """A cell, and what running it gave: texts, HTML, and pictures as PNG, in the order in which a notebook shows them."""

    kind: str
    source: str
    outputs: list[tuple[str, Any]] = field(default_factory=list)


def cells_of(notebook: Path) -> list[Cell]:
    return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]]


def _png(figure) -> bytes:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=DPI)
    return data.getvalue()


def run_cell(cell: Cell, variables: dict[str, Any], name: str) -> None:
    """Runs a code cell as a notebook does: what it prints, the value of its last line, and the figures that it leaves open."""
    import matplotlib.pyplot as plt  # here, so that pages without output need no matplotlib
    tree = ast.parse(cell.source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        exec(compile(tree, name, "exec"), variables)
        value = eval(compile(last, name, "eval"), variables) if last else None
    if printed.getvalue():
        cell.outputs.append(("text", printed.getvalue()))
    if isinstance(value, plt.Figure):
        cell.outputs.append(("png", _png(value)))
    elif hasattr(value, "_repr_html_"):
        cell.outputs.append(("html", value._repr_html_()))
    elif value is not None:
        cell.outputs.append(("text", repr(value)))
    for number in plt.get_fignums():
        if plt.figure(number) is not value:
            cell.outputs.append(("png", _png(plt.figure(number))))
    plt.close("all")


def run(notebook: Path) -> tuple[list[Cell], dict[str, Any]]:
    """The cells of a notebook with their output, run in the working directory, and the variables at the end."""
    os.environ["MPLBACKEND"] = "Agg"
    variables: dict[str, Any] = {"__name__": "__main__"}
    cells = cells_of(notebook)
    for number, cell in enumerate((cell for cell in cells if cell.kind == "code"), 1):
        run_cell(cell, variables, f"{notebook.name}, code cell {number}")
    return cells, variables


def _fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def page_of(cells: list[Cell], name: str) -> tuple[str, dict[str, bytes]]:
    """The page, and its pictures by file name."""
    parts, pictures = [], {}
    for cell in cells:
        parts.append(_fenced(cell.source, "python") if cell.kind == "code" else cell.source.rstrip() + "\n")
        for kind, output in cell.outputs:
            if kind == "png":
                file = f"{name}_{len(pictures) + 1}.png"
                pictures[file] = output
                parts.append(f"![Output of the cell above]({file})\n")
            else:
                html = "\n".join(line for line in output.splitlines() if line.strip())  # an empty line would end it in Markdown
                parts.append(_fenced(output) if kind == "text" else f'<div class="frame">\n{html}\n</div>\n')
    return "\n".join(parts), pictures


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder, before = Path(sys.argv[1]).resolve(), os.getcwd()
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.md"), *folder.glob("*.png")):
        old.unlink()
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            cells, _ = run(notebook)
            os.chdir(before)
        text, pictures = page_of(cells, notebook.stem)
        (folder / f"{notebook.stem}.md").write_text(text, encoding="utf-8")
        for file, data in pictures.items():
            (folder / file).write_bytes(data)
        print(f"{folder / notebook.stem}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())

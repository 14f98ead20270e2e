# SPDX-License-Identifier: BSD-3-Clause
"""Extracts a figure of report.html as a separate SVG file, for a README or a talk."""
from __future__ import annotations

import argparse
import re
from pathlib import Path

from karst.error import KarstError

STYLE = """text{font-family:"Liberation Sans",Arial,sans-serif;fill:#1d2733}.label{fill:#5b6673}.axis{stroke:#6b7683;stroke-width:1}
.halo{paint-order:stroke;stroke:#fff;stroke-width:4px}"""


ACTIVE = re.compile(r"<\s*(?:script|foreignobject|iframe|a\b)|\son\w+\s*=|javascript:", re.IGNORECASE)  # in no figure of ours


def figures(page):
    """The <svg> elements of the figures of a report; the first one shows the streamlines of the first driving force."""
    return [match[0] for match in re.finditer(r'<svg class="(?:body|chart)".*?</svg>', page.split("<body>")[-1], re.DOTALL)
            if "<image" in match[0]]


def standalone(figure):
    """The figure as a separate document: with name space, size, fonts and a white background."""
    left, top, width, height = map(float, re.search(r'viewBox="([^"]+)"', figure)[1].split())
    size = re.search(r"font-size:(\d+)px", figure)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="{left:g} {top:g} {width:g} '
            f'{height:g}" font-size="{size[1] if size else 14}"><style>{STYLE}</style><rect x="{left:g}" y="{top:g}" '
            f'width="{width:g}" height="{height:g}" fill="#fff"/>')
    return head + figure[figure.index(">") + 1:] + "\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--number", type=int, default=0, help="number of the figure, from 0 (default: 0)")


def draw(options: argparse.Namespace) -> None:
    write_figure(options.page, options.output, options.number)


def write_figure(page: str | Path, output: str | Path, number: int = 0) -> None:
    """Writes figure `number` (from 0; 0 of a flow: the streamlines) of the page of a run as SVG. Raises KarstError."""
    try:
        found = figures(Path(page).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise KarstError(f"{page}: cannot be read: {problem}") from None
    if not 0 <= number < len(found):
        raise KarstError(f"{page}: has {len(found)} figures, but number {number} was requested (numbers start at 0)")
    if ACTIVE.search(found[number]):
        raise KarstError(f"{page}: its figure {number} contains more than lines, text and images: it was not written by Karst")
    unfinished = Path(f"{output}.tmp")
    try:
        unfinished.write_text(standalone(found[number]), encoding="utf-8")
        unfinished.replace(output)
    except OSError as problem:
        raise KarstError(f"{output}: cannot be written ({problem.strerror})") from None

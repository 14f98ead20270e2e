#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A figure of report.html as a picture of its own (SVG): for a README or a talk.

    tools/report_figure.py out/quickstart/results/report.html -o streamlines.svg [--number 0]
"""
import argparse
import re
import sys
from pathlib import Path

STYLE = """text{font-family:"Liberation Sans",Arial,sans-serif;fill:#1d2733}.label{fill:#5b6673}.axis{stroke:#6b7683;stroke-width:1}
.halo{paint-order:stroke;stroke:#fff;stroke-width:4px}"""


def figures(page):
    """The <svg> elements of the figures of a page, first the streamlines of the first drive."""
    return [match[0] for match in re.finditer(r'<svg class="(?:body|chart)".*?</svg>', page.split("<body>")[-1], re.DOTALL)
            if "<image" in match[0]]


def standalone(figure):
    """The same with name space, size, letters and a white ground, for it has no page around it."""
    left, top, width, height = map(float, re.search(r'viewBox="([^"]+)"', figure)[1].split())
    size = re.search(r"font-size:(\d+)px", figure)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="{left:g} {top:g} {width:g} '
            f'{height:g}" font-size="{size[1] if size else 14}"><style>{STYLE}</style><rect x="{left:g}" y="{top:g}" '
            f'width="{width:g}" height="{height:g}" fill="#fff"/>')
    return head + figure[figure.index(">") + 1:] + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("page", type=Path)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--number", type=int, default=0, help="of the figure, from 0 (default: 0)")
    options = arguments.parse_args()
    try:
        found = figures(options.page.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        sys.exit(f"{options.page}: cannot be read: {problem}")
    if not 0 <= options.number < len(found):
        sys.exit(f"{options.page}: has {len(found)} figures, number {options.number} is none of them (they count from 0)")
    unfinished = options.output.with_name(options.output.name + ".tmp")
    unfinished.write_text(standalone(found[options.number]), encoding="utf-8")
    unfinished.replace(options.output)


if __name__ == "__main__":
    main()

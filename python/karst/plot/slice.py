# SPDX-License-Identifier: BSD-3-Clause
"""Draws a plane of a plotfile: the field, the wall as a line, solid in grey, boxes of the levels as thin lines."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karst.error import KarstError
from karst.optional import needs
from karst.plotfile import FRACTION, Plotfile, length_unit
from karst.units import axis_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOLID = "#b7ada0"
WALL = "#2b2622"
LEVEL_LINES = ["#ffffff", "#e4572e", "#f3a712", "#29335c"]


def fraction_between(text):
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plotfile")
    parser.add_argument("--field", default=FRACTION, help="default: fraction")
    parser.add_argument("--axis", default="z", choices=["x", "y", "z"], help="the plane's normal (default z)")
    parser.add_argument("--at", default=0.5, type=fraction_between, help="position along the axis, 0 to 1 of the domain (default 0.5)")
    parser.add_argument("--title", default="", help="text above the picture")
    parser.add_argument("--no-boxes", action="store_true", help="leave out the outlines of the boxes")
    parser.add_argument("-o", "--output", required=True, help="picture to write (.png, .pdf, .svg)")


def draw(options: argparse.Namespace) -> None:
    draw_slice(options.plotfile, options.output, field=options.field, axis=options.axis, at=options.at, title=options.title,
               boxes=not options.no_boxes)


def draw_field(axes, values, fraction, extent, field):
    """The field where there is fluid, solid grey elsewhere; returns what the colour bar describes."""
    import matplotlib
    colours = matplotlib.colormaps["Blues" if field == FRACTION else "viridis"].with_extremes(bad=SOLID)
    shown = np.ma.masked_invalid(np.where(fraction > 0, values, np.nan))
    limits = {"vmin": 0.0, "vmax": 1.4} if field == FRACTION and shown.count() else {}
    return axes.imshow(shown, origin="lower", extent=extent, cmap=colours, interpolation="nearest", **limits)


def covered(plot, level, axis, at, dx, shape):
    """Which cells of width dx in the plane are inside boxes of a level."""
    inside = np.zeros(shape, dtype=bool)
    low = [round(plot.origin[d] / dx) for d in range(3) if d != axis]
    for rectangle in plot.rectangles(level, axis, at):
        i, j, ni, nj = (round(length / dx) for length in rectangle)
        i, j = i - low[0], j - low[1]
        inside[j:j + nj, i:i + ni] = True
    return inside


def draw_wall_line(axes, plot, axis, at, scale):
    """The wall as a line, drawn level by level where there is no finer level."""
    u, v = (d for d in range(3) if d != axis)
    for number, level in enumerate(plot.levels):
        field = plot.wall_field(number, (axis, at))
        mine = covered(plot, number, axis, at, level.dx, field.shape) | (number == 0)
        if number + 1 < len(plot.levels):
            mine &= ~covered(plot, number + 1, axis, at, level.dx, field.shape)
        field = np.ma.array(field, mask=~mine)
        shown = field.compressed()
        if min(field.shape) < 2 or shown.size == 0 or shown.min() >= 0 or shown.max() < 0:
            continue
        x, y = (plot.centres(d, number) * scale for d in (u, v))
        axes.contour(x, y, field, levels=[0.0], colors=[WALL], linewidths=0.9)


def draw_boxes(axes, plot, axis, at, scale):
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle
    for level in range(len(plot.levels)):
        patches = [Rectangle((x * scale, y * scale), w * scale, h * scale) for x, y, w, h in plot.rectangles(level, axis, at)]
        colour = LEVEL_LINES[min(level, len(LEVEL_LINES) - 1)]
        axes.add_collection(PatchCollection(patches, facecolor="none", edgecolor=colour, linewidth=0.4 + 0.3 * (level > 0), alpha=0.7))


def magnitude(values):
    """Of vectors, whose components are the last dimension, their length."""
    return np.linalg.norm(values, axis=2) if values.ndim == 3 else values


def new_figure(sizes: tuple[float, float], what: str) -> tuple[Figure, Any]:
    """A figure for a plane with these edges, and its axes."""
    figure = needs("matplotlib.figure", what).Figure(figsize=(7.2, min(max(5.8 * sizes[1] / sizes[0] + 0.9, 2.6), 12.0)), layout="constrained")
    return figure, figure.add_subplot()


def add_bar(figure, axes, image, field, unit):
    bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
    bar.set_label(field + (f" [{unit}]" if unit != "1" else ""))


def draw_plane(plot: Plotfile, field: str, axis: int, at: float | str, title: str = "", boxes: bool = True,
               limits: tuple[float, float] | None = None) -> Figure:
    """A plane of an open plotfile; limits: ends of the colours, by default those of its values."""
    u, v = (other for other in range(3) if other != axis)
    values = magnitude(plot.plane(field, axis, at))
    has_fraction = FRACTION in plot.components
    fraction = plot.plane(FRACTION, axis, at) if has_fraction else np.isfinite(values).astype(float)
    scale, unit = length_unit(max(plot.size))
    extent = [scale * (plot.origin[d] + end) for d in (u, v) for end in (0.0, plot.size[d])]
    figure, axes = new_figure((plot.size[u], plot.size[v]), "a picture of a slice")
    image = draw_field(axes, values, fraction, extent, field)
    if limits:
        image.set_clim(*limits)
    if has_fraction:
        draw_wall_line(axes, plot, axis, at, scale)
    if boxes:
        draw_boxes(axes, plot, axis, at, scale)
    axes.set(xlim=extent[:2], ylim=extent[2:], xlabel=f"{'xyz'[u]} [{unit}]", ylabel=f"{'xyz'[v]} [{unit}]")
    place = float(plot.origin[axis] + plot.size[axis] * plot.fraction(axis, at)) * scale
    axes.set_title(title or f"{plot.path.stem}, plane {'xyz'[axis]} = {place:.4g} {unit}", fontsize=11)
    add_bar(figure, axes, image, field, plot.unit(field))
    return figure


def save(figure: Figure, output: str | Path) -> None:
    try:
        figure.savefig(output, dpi=170)
    except (OSError, ValueError) as error:
        raise KarstError(f"{output}: the picture cannot be written ({error})") from None


def draw_slice(plotfile: str | Path, output: str | Path | None = None, *, field: str = FRACTION, axis: int | str = "z", at: float | str = 0.5,
               title: str = "", boxes: bool = True) -> Figure:
    """Draws the plane across an axis at the fraction `at` (0 to 1) of the domain, or at a place such as "0.2 mm"; of a vector its magnitude.
    Returns the matplotlib figure, written to `output` if that is given. Raises KarstError."""
    with Plotfile(plotfile) as plot:
        figure = draw_plane(plot, field, axis_number(axis), at, title, boxes)
    if output is not None:
        save(figure, output)
    return figure

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a plane of a plotfile: the field, the wall as a line, solid in grey, boxes of the levels as thin lines."""
import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from karst_plotfile import FRACTION, Plotfile, PlotfileError, guarded, length_unit

SOLID = "#b7ada0"
WALL = "#2b2622"
LEVEL_LINES = ["#ffffff", "#e4572e", "#f3a712", "#29335c"]


def fraction_between(text):
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plotfile")
    parser.add_argument("--field", default=FRACTION, help="default: fraction")
    parser.add_argument("--axis", default="z", choices=["x", "y", "z"], help="the plane's normal (default z)")
    parser.add_argument("--at", default=0.5, type=fraction_between, help="place along the axis, 0 to 1 of the domain (default 0.5)")
    parser.add_argument("--title", default="", help="text above the picture")
    parser.add_argument("--no-boxes", action="store_true", help="leave out the outlines of the boxes")
    parser.add_argument("-o", "--output", required=True, help="picture to write (.png, .pdf, .svg)")
    return parser.parse_args()


def draw_field(axes, values, fraction, extent, field):
    """The field where there is fluid, solid grey elsewhere; returns what the colour bar describes."""
    colours = matplotlib.colormaps["Blues" if field == FRACTION else "viridis"].copy()
    colours.set_bad(SOLID)
    shown = np.ma.masked_invalid(np.where(fraction > 0, values, np.nan))
    limits = {"vmin": 0.0, "vmax": 1.4} if field == FRACTION and shown.count() else {}
    return axes.imshow(shown, origin="lower", extent=extent, cmap=colours, interpolation="nearest", **limits)


def covered(plot, level, axis, at, dx, shape):
    """Which cells of width dx in the plane lie in boxes of a level."""
    inside = np.zeros(shape, dtype=bool)
    for rectangle in plot.rectangles(level, axis, at):
        i, j, ni, nj = (round(length / dx) for length in rectangle)
        inside[j:j + nj, i:i + ni] = True
    return inside


def draw_wall(axes, plot, axis, at, scale):
    """The wall as a line, drawn level by level where no finer level lies."""
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
        x, y = ((np.arange(int(level.cells[d])) + 0.5) * level.dx * scale for d in (u, v))
        axes.contour(x, y, field, levels=[0.0], colors=[WALL], linewidths=0.9)


def draw_boxes(axes, plot, axis, at, scale):
    for level in range(len(plot.levels)):
        patches = [Rectangle((x * scale, y * scale), w * scale, h * scale) for x, y, w, h in plot.rectangles(level, axis, at)]
        colour = LEVEL_LINES[min(level, len(LEVEL_LINES) - 1)]
        axes.add_collection(PatchCollection(patches, facecolor="none", edgecolor=colour, linewidth=0.4 + 0.3 * (level > 0), alpha=0.7))


def main():
    args = arguments()
    axis = "xyz".index(args.axis)
    u, v = (d for d in range(3) if d != axis)
    with Plotfile(args.plotfile) as plot:
        values = plot.plane(args.field, axis, args.at)
        if values.ndim == 3:  # a vector: its length
            values = np.linalg.norm(values, axis=2)
        has_fraction = FRACTION in plot.components
        fraction = plot.plane(FRACTION, axis, args.at) if has_fraction else np.isfinite(values).astype(float)
        scale, unit = length_unit(max(plot.size))
        extent = [0.0, plot.size[u] * scale, 0.0, plot.size[v] * scale]
        ratio = extent[3] / extent[1]
        figure, axes = plt.subplots(figsize=(7.2, min(max(5.8 * ratio + 0.9, 2.6), 12.0)), constrained_layout=True)
        image = draw_field(axes, values, fraction, extent, args.field)
        if has_fraction:
            draw_wall(axes, plot, axis, args.at, scale)
        if not args.no_boxes:
            draw_boxes(axes, plot, axis, args.at, scale)
        axes.set(xlim=extent[:2], ylim=extent[2:], xlabel=f"{'xyz'[u]} [{unit}]", ylabel=f"{'xyz'[v]} [{unit}]")
        place = plot.size[axis] * args.at * scale
        axes.set_title(args.title or f"{Path(args.plotfile).stem}, plane {args.axis} = {place:.4g} {unit}", fontsize=11)
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
        unit_of_field = plot.unit(args.field)
        bar.set_label(args.field + (f" [{unit_of_field}]" if unit_of_field != "1" else ""))
    try:
        figure.savefig(args.output, dpi=170)
    except (OSError, ValueError) as error:
        raise PlotfileError(f"{args.output}: the picture cannot be written ({error})") from None
    return 0


if __name__ == "__main__":
    guarded(main)

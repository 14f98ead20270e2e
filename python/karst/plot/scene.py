# SPDX-License-Identifier: BSD-3-Clause
"""What a view shows (view.py), as arrays for the page: wall, streamlines and fields of plotfiles on one grid of few cells.

Every array is packed (differences of neighbours, byte planes, gzip) and held once, so that what does not change in time takes no more room
than in one plotfile. view.js unpacks the same.
"""
from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass, field

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy

from karst.plotfile import FRACTION, GEOMETRY
from karst.streamlines import array_of, seeds, trace
from karst.surface import simplified, smoothed, wall_surface

ENDS = 65535  # of coordinates in 16 bits, over the grid
WALL_ZERO = 128  # of the wall field in 8 bits: 127 steps per cell
TRIANGLES = 150_000  # of all walls of a view, if they move
FEWEST = 10_000  # triangles of one wall
LINES, FEWEST_LINES = 160, 24  # streamlines of all frames, of one; the fewest of a plane flow
POINTS = 0.8  # [cells] between the points of a line
SPEED_SHARE = 99.5  # percentile at the top of the colours of a speed


@dataclass
class Grid:
    """Cells of the view along x, y, z, of factors cells of the plotfile each; the last one may reach beyond the sample."""

    factors: np.ndarray
    cells: np.ndarray
    spacing: np.ndarray  # [m]

    @property
    def reach(self) -> np.ndarray:
        """Edge lengths [m], those of the sample or more."""
        return self.cells * self.spacing


def grid_of(plot, limit):
    """At most `limit` cells in each direction."""
    finest = plot.levels[-1]
    factor = -(-int(finest.cells.max()) // limit)
    factors = np.where(finest.cells > factor, factor, 1)
    return Grid(factors, -(-finest.cells // factors), finest.dx * factors)


def averaged(values, grid):
    """Means of the cells with a value, [k, j, i], NaN where there are none."""
    if (grid.factors == 1).all():
        return values
    missing = (grid.cells * grid.factors)[::-1] - values.shape
    values = np.pad(values, [(0, n) for n in missing], constant_values=np.nan)
    f = grid.factors[::-1]
    blocks = values.reshape(*(n for pair in zip(grid.cells[::-1], f) for n in pair))
    there = np.isfinite(blocks)
    count = there.sum(axis=(1, 3, 5))
    total = np.where(there, blocks, 0).sum(axis=(1, 3, 5))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)


def continued(values, times=3):
    """Values next to those that are there, by means of neighbours: what a linear interpolation at the wall needs. Elsewhere the lowest."""
    for _ in range(times):
        padded = np.pad(values, 1, constant_values=np.nan)
        total, count = np.zeros(values.shape, np.float32), np.zeros(values.shape, np.uint8)
        for axis in range(3):
            for step in (1, -1):
                moved = np.roll(padded, step, axis)[1:-1, 1:-1, 1:-1]
                total += np.nan_to_num(moved)
                count += np.isfinite(moved)
        values = np.where(np.isfinite(values) | (count == 0), values, total / np.maximum(count, 1))
    return np.where(np.isfinite(values), values, np.nanmin(values)) if np.isfinite(values).any() else np.zeros_like(values)


def packed(values, width):
    """Integers of `width` bytes as differences of neighbours, small ones first, in planes of bytes, gzip, base64."""
    signed = {1: np.int8, 2: np.int16, 4: np.int32}[width]
    flat = np.ascontiguousarray(values).ravel().astype(np.int64)
    step = np.diff(flat, prepend=0).astype(signed).astype(np.int64)  # wraps
    code = (np.abs(step) * 2 - (step < 0)).astype(f"<u{width}")  # 0, -1, 1, -2 ... as 0, 1, 2, 3
    planes = code.view(np.uint8).reshape(-1, width).T
    return base64.b64encode(gzip.compress(planes.tobytes(), 9, mtime=0)).decode()


@dataclass
class Arrays:
    """Packed arrays, equal ones once."""

    texts: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def add(self, values, width):
        """Number of the array."""
        text = packed(values, width)
        if text not in self.places:
            self.places[text] = len(self.texts)
            self.texts.append(text)
        return self.places[text]

    @property
    def bytes(self) -> int:
        return sum(map(len, self.texts))


@dataclass
class Field:
    """A scalar: label and unit; name of the velocity that it is the magnitude of, or that belongs to it."""

    label: str
    unit: str
    array: str
    is_speed: bool
    velocity: str | None


def fields_of(plot):
    """The scalars of a plotfile: magnitudes of vectors, and all others that are no geometry."""
    vectors = [name for name in plot.arrays if f"{name}_x" in plot.components and not name.startswith(GEOMETRY)]
    velocities = [name for name in vectors if name.endswith("velocity")]
    found = []
    for name in plot.arrays:
        if name.startswith(GEOMETRY) and name not in vectors or name.endswith("speed") and name.replace("speed", "velocity") in vectors:
            continue
        speed = name in velocities
        label = (name.replace("velocity", "speed") if speed else name).replace("_", " ").strip()
        beside = [v for v in velocities if name.startswith(v.removesuffix("velocity"))]
        found.append(Field(label, plot.arrays[name], name, speed, name if speed else (beside or velocities or [None])[0]))
    return sorted(found, key=lambda f: not f.is_speed)


def vector(plot, name, grid):
    """A vector on the grid, [k, j, i, component], 0 in the solid."""
    return np.stack([np.nan_to_num(averaged(array_of(plot, f"{name}_{d}"), grid)) for d in "xyz"], axis=-1)


def values_of(plot, shown, grid):
    """A scalar on the grid, NaN without fluid."""
    if f"{shown.array}_x" in plot.components:
        return np.linalg.norm(vector(plot, shown.array, grid), axis=-1)
    return averaged(plot.uniform(shown.array), grid)


def coordinates(points, grid):
    """Points [m] in 16 bits: all x, all y, all z."""
    return np.rint(np.clip(points / grid.reach, 0, 1) * ENDS).T


def add_wall(arrays, wall, grid, size, sharp, triangles):
    """The field of the wall in 8 bits, and its surface, which ends at the faces of the sample."""
    solid = np.rint(np.clip(wall, -1, 1) * 127) + WALL_ZERO
    cell = float(grid.spacing.min())  # VTK's tolerances want lengths of about one
    surface = wall_surface(np.pad(wall, 1, mode="edge"), grid.spacing / cell, first=-0.5)
    if surface.GetNumberOfPolys() == 0:
        return {"volume": arrays.add(solid, 1), "triangles": 0}
    surface = simplified(surface if sharp else smoothed(surface), triangles)
    points = np.clip(vtk_to_numpy(surface.GetPoints().GetData()) * cell, 0, size)
    corners = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    return {"volume": arrays.add(solid, 1), "triangles": len(corners), "points": arrays.add(coordinates(points, grid), 2),
            "corners": arrays.add(corners, 4)}


def add_lines(arrays, velocity, grid, size, wanted):
    """Streamlines: points of all lines, and how many each has."""
    starts = seeds(velocity, grid.spacing, FEWEST_LINES if (grid.cells == 1).any() else wanted)
    if len(starts) == 0:
        return None
    lines = trace(np.pad(velocity, ((1, 1),) * 3 + ((0, 0),), mode="edge"), grid.spacing, starts, first=-0.5)
    points = vtk_to_numpy(lines.GetPoints().GetData())
    order = vtk_to_numpy(lines.GetLines().GetConnectivityArray())
    ends = vtk_to_numpy(lines.GetLines().GetOffsetsArray())
    kept, counts = [], []
    for first, last in zip(ends[:-1], ends[1:]):
        line = points[order[first:last]]
        line = line[((line >= -1e-9) & (line <= size * (1 + 1e-9))).all(axis=1)]
        if len(line) < 2:
            continue
        way = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        places = np.linspace(0, way[-1], max(int(way[-1] / (POINTS * grid.spacing.min())), 1) + 1)
        kept.append(np.stack([np.interp(places, way, line[:, d]) for d in range(3)], axis=1))
        counts.append(len(places))
    if not counts:
        return None
    return {"points": arrays.add(coordinates(np.concatenate(kept), grid), 2), "counts": arrays.add(np.array(counts), 4)}


def fields_in(series, names=None):
    """Scalars of the last plotfile, those of all plotfiles first; what is only in the last one, such as a steady flow, counts for all."""
    with series[-1] as last, series[0] as first:
        fields = sorted(fields_of(last), key=lambda f: f.array not in first.arrays)
    return [f for f in fields if names is None or f.array in names]


def scene_of(series, names, limit):
    """(description for the page, Arrays) of plotfiles; names: arrays of the fields to show."""
    arrays, frames, fields = Arrays(), [], fields_in(series, names)
    values = {name: [] for name in names}
    share = len(series) if moves(series) else 1
    with series[-1] as last:
        grid, size = grid_of(last, limit), last.size
        for plot in series:
            wall = wall_of(plot, grid)
            frame = {"time": plot.time, "wall": add_wall(arrays, wall, grid, size, plot.has_distance, max(TRIANGLES // share, FEWEST)),
                     "lines": {}, "fields": []}
            for velocity in dict.fromkeys(f.velocity for f in fields if f.velocity):
                source = plot if velocity in plot.arrays else last
                lines = add_lines(arrays, vector(source, velocity, grid), grid, size, max(LINES // share, FEWEST_LINES))
                if lines:
                    frame["lines"][velocity] = lines
            for shown in fields:
                values[shown.array].append(values_of(plot if shown.array in plot.arrays else last, shown, grid))
            frames.append(frame)
    about = [add_field(arrays, shown, values[shown.array], frames) for shown in fields]
    start = int(np.argmax([np.nanstd(v) for v in values[fields[0].array]])) if fields else 0
    return {"size": size.tolist(), "reach": grid.reach.tolist(), "cells": grid.cells.tolist(), "porosity": float((wall > 0).mean()), "start": start,
            "frames": frames, "fields": about}, arrays


def wall_of(plot, grid):
    """A field that is > 0 in the fluid, 0 at the wall, in cells of the grid or, without a distance, between -0.5 and 0.5."""
    if FRACTION not in plot.components:
        return averaged(np.isfinite(plot.uniform(plot.components[0])) - np.float32(0.5), grid)
    return averaged(plot.smooth_wall_field(), grid) / (grid.factors.max() if plot.has_distance else 1)


def moves(series):
    """Whether wall or velocity of a series change in time."""
    with series[0] as first, series[-1] as last:
        names = [name for name in first.arrays if name == FRACTION or name.endswith("velocity")]
        return not all(np.array_equal(first.uniform(name), last.uniform(name), equal_nan=True) for name in names)


def add_field(arrays, shown, values, frames):
    """A scalar in 8 bits between its extrema in all frames, into the frames; returns what describes it."""
    all_values = np.concatenate([v[np.isfinite(v)] for v in values] or [np.zeros(1)])
    low, high = (float(all_values.min()), float(all_values.max())) if all_values.size else (0.0, 0.0)
    fluid = all_values[all_values > 0] if shown.is_speed else all_values
    top = float(np.percentile(fluid, SPEED_SHARE)) if shown.is_speed and fluid.size else high
    scale = 255 / (high - low) if high > low else 0.0
    for frame, v in zip(frames, values):
        filled = np.nan_to_num(v) if shown.is_speed else continued(v)
        frame["fields"].append(arrays.add(np.rint((np.clip(filled, low, high) - low) * scale), 1))
    return {"label": shown.label, "unit": shown.unit, "low": low, "high": high, "top": top, "speed": shown.is_speed, "velocity": shown.velocity}

# SPDX-License-Identifier: BSD-3-Clause
"""Reads Karst plotfiles (HDF5 in Chombo's layout, see src/io/plotfile.hpp).

    plot = Plotfile("out/plot.vtkhdf")
    plot.components            ["fraction", ...]
    plot.uniform("fraction")   one array [k, j, i] of the whole domain at the finest cell width
    plot.plane("fraction", axis=2, at=0.5)   one array of a plane

Boxes that are not in the file hold no fluid; their cells, and covered cells, come back as NaN (fraction: 0).
"""
import sys
from dataclasses import dataclass

import h5py
import numpy as np

FRACTION = "fraction"  # volume fraction of fluid in a cell; above 1 where slivers of neighbours were joined
DISTANCE = "distance"  # level set at the cell centre [m], > 0 in the fluid; not in every plotfile
UNITS = {"velocity": "m/s", "pressure": "Pa", DISTANCE: "m", "wall_area": "m²", "wall_normal": "-", FRACTION: "-"}


class PlotfileError(Exception):
    """A file that is no plotfile, or a field it does not have; the text says what to do."""


@dataclass
class Level:
    """One level of boxes: cell width dx [m]; lo and hi are first and last cells, arrays [box, direction]."""

    dx: float
    domain_lo: np.ndarray
    domain_hi: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    offsets: np.ndarray

    @property
    def cells(self):
        return self.domain_hi - self.domain_lo + 1


def _corners(boxes):
    """First and last cells of compound box records (lo_i .. hi_k) as two integer arrays [..., 3]."""
    return tuple(np.stack([boxes[f"{end}_{d}"] for d in "ijk"], axis=-1).astype(np.int64) for end in ("lo", "hi"))


def doubled(values, axis):
    """Twice as many cells along an axis, by linear interpolation between cell centres."""
    before = np.concatenate([values.take([0], axis), values.take(range(values.shape[axis] - 1), axis)], axis)
    after = np.concatenate([values.take(range(1, values.shape[axis]), axis), values.take([-1], axis)], axis)
    pair = np.stack([0.75 * values + 0.25 * before, 0.75 * values + 0.25 * after], axis + 1)
    return pair.reshape(*values.shape[:axis], -1, *values.shape[axis + 1:])


class Plotfile:
    def __init__(self, path):
        try:
            self._file = h5py.File(path, "r")
        except OSError as error:
            raise PlotfileError(f"{path}: cannot be read as HDF5 ({error}); give a plotfile written by karst") from None
        attributes = self._file.attrs
        if "num_levels" not in attributes or "component_0" not in attributes:
            raise PlotfileError(f"{path}: is HDF5 but no plotfile (num_levels is missing); give one written by karst")
        names = (attributes[f"component_{c}"] for c in range(int(attributes["num_components"])))
        self.components = [name.decode() if isinstance(name, bytes) else str(name) for name in names]
        self.time = float(attributes.get("time", 0.0))
        self.levels = [self._level(number) for number in range(int(attributes["num_levels"]))]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def _level(self, number):
        group = self._file[f"level_{number}"]
        domain_lo, domain_hi = _corners(group.attrs["prob_domain"])
        lo, hi = _corners(group["boxes"][:])
        return Level(float(group.attrs["dx"]), domain_lo, domain_hi, lo, hi, group["data:offsets=0"][:])

    @property
    def size(self):
        """Edge lengths of the domain [m]."""
        return self.levels[0].cells * self.levels[0].dx

    def component(self, field):
        if field not in self.components:
            raise PlotfileError(f"no field '{field}' in the plotfile; it has: {', '.join(self.components)}")
        return self.components.index(field)

    def box(self, field, level, number):
        """Values of one box, array [k, j, i]."""
        at = self.levels[level]
        nx, ny, nz = at.hi[number] - at.lo[number] + 1
        count = int(nx * ny * nz)
        first = int(at.offsets[number]) + self.component(field) * count
        return self._file[f"level_{level}/data:datatype=0"][first:first + count].reshape(nz, ny, nx)

    def _assemble(self, field, level, plane):
        """Array of the finest cell width up to `level`; plane: None or (axis, cell of the finest level)."""
        finest = self.levels[level]
        shape = [1 if plane and d == plane[0] else int(finest.cells[d]) for d in range(3)]
        out = np.full(shape[::-1], np.nan, dtype=np.float32)
        for number, at in enumerate(self.levels[:level + 1]):
            ratio = 2 ** (level - number)
            for b in range(len(at.lo)):
                lo, hi = at.lo[b] - at.domain_lo, at.hi[b] - at.domain_lo + 1
                pick = [slice(None)] * 3
                place = [slice(int(lo[d]) * ratio, int(hi[d]) * ratio) for d in range(3)]
                if plane:
                    axis, cell = plane[0], plane[1] // ratio
                    if not lo[axis] <= cell < hi[axis]:
                        continue
                    pick[axis] = slice(int(cell - lo[axis]), int(cell - lo[axis]) + 1)
                    place[axis] = slice(0, 1)
                values = self.box(field, number, b)[pick[2], pick[1], pick[0]]
                for d in range(3):
                    if not (plane and d == plane[0]):
                        values = np.repeat(values, ratio, axis=2 - d)
                out[place[2], place[1], place[0]] = values
        return np.nan_to_num(out, nan=0.0) if field == FRACTION else out

    def uniform(self, field, level=-1):
        """The whole domain at the cell width of a level (default the finest), finer values over coarser ones, [k, j, i]."""
        return self._assemble(field, level % len(self.levels), None)

    @property
    def has_distance(self):
        return DISTANCE in self.components

    def wall_field(self, level=-1, plane=None):
        """A field that is > 0 in the fluid and 0 at the wall, in cells of a level, [k, j, i] or a plane (axis, at).

        The distance where the plotfile has it (negative where there is no box, and in pores that were removed), else
        the fraction less one half.
        """
        def get(field):
            return self.plane(field, *plane, level) if plane else self.uniform(field, level)
        fraction = get(FRACTION)
        if not self.has_distance:
            return np.clip(fraction, 0.0, 1.0) - 0.5
        distance = get(DISTANCE) / self.levels[level].dx
        solid = (fraction <= 0) & ~(distance <= 0)
        return np.where(solid, -0.5, distance).astype(np.float32)

    def smooth_wall_field(self):
        """wall_field at the finest cell width; coarser levels are interpolated linearly, for smooth surfaces."""
        out = self.wall_field(0)
        for number in range(1, len(self.levels)):
            for axis in range(3):
                out = doubled(out, axis)
            out = np.where(self._held(number), self.wall_field(number), out * (2 if self.has_distance else 1))
        return out

    def _held(self, number):
        """Cells of a level inside its boxes, [k, j, i]."""
        level = self.levels[number]
        held = np.zeros(level.cells[::-1], dtype=bool)
        for lo, hi in zip(level.lo - level.domain_lo, level.hi - level.domain_lo + 1):
            held[lo[2]:hi[2], lo[1]:hi[1], lo[0]:hi[0]] = True
        return held

    def plane(self, field, axis, at, level=-1):
        """Cells cut by the plane at the fraction `at` (0..1) of the domain along `axis`, at the cell width of a level.

        Returns the array [second direction, first direction], directions in the order x, y, z without `axis`.
        """
        level %= len(self.levels)
        cells = int(self.levels[level].cells[axis])
        cell = min(int(at * cells), cells - 1)
        return self._assemble(field, level, (axis, cell)).squeeze(axis=2 - axis)

    def rectangles(self, level, axis, at):
        """Boxes of a level cut by a plane: list of (x, y, width, height) [m] in the plane's two directions."""
        this = self.levels[level]
        cell = min(int(at * this.cells[axis]), int(this.cells[axis]) - 1) + int(this.domain_lo[axis])
        u, v = (d for d in range(3) if d != axis)
        low, size = (this.lo - this.domain_lo) * this.dx, (this.hi - this.lo + 1) * this.dx
        hit = (this.lo[:, axis] <= cell) & (cell <= this.hi[:, axis])
        return [(low[b, u], low[b, v], size[b, u], size[b, v]) for b in np.flatnonzero(hit)]


def length_unit(metres):
    """(factor, name) that make a length of this size easy to read."""
    for limit, factor, name in ((1e-3, 1e6, "µm"), (1.0, 1e3, "mm")):
        if metres < limit * 0.999999:
            return factor, name
    return 1.0, "m"


def unit_of(field):
    """Unit of a field by the first word of its name, empty when it is not known."""
    return next((unit for name, unit in UNITS.items() if field.startswith(name)), "")


def guarded(main):
    """Runs main; a PlotfileError becomes one line and status 1."""
    try:
        sys.exit(main())
    except PlotfileError as error:
        sys.exit(f"error: {error}")

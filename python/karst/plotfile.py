# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles (HDF5, see src/io/plotfile.hpp).

    plot = Plotfile("out/plot.vtkhdf")
    plot.arrays                {"fraction": "1", "velocity": "m/s", ...}: names and units
    plot.uniform("velocity")   the whole domain at the finest cell width: array [k, j, i, component], scalars [k, j, i]
    plot.uniform("velocity_x") one component of a vector, [k, j, i]
    plot.plane("pressure", axis="z", at=0.5)      one array of a plane, in the middle of z; at="0.2 mm": a place
    plot.centres("x"), plot.spacing          cell centres, cell widths [m]
    plot.to_xarray(), plot.to_pyvista()      for xarray, PyVista
    plot.export("out/rock", "vti", "stl")    files for other programs

A file that holds a region of the domain (output.region_lo) is read as this region: its arrays, `size` and fractions `at` are those of the region,
`centres()` and places such as "0.2 mm" are in the domain, `origin` [m] is the low corner. A file with output.coarsening has fewer, wider cells.

Boxes that are not in the file contain no fluid. Geometry fields (fraction, distance ...) also have values in the solid; all others are NaN
in cells without fluid. Files of older versions can be read, too.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from karst.error import KarstError, unknown
from karst.units import axis_number, fraction_of

if TYPE_CHECKING:
    import pyvista
    import xarray

FRACTION = "fraction"  # volume fraction of fluid in a cell, 0 to 1; in older files above 1 where slivers were merged
DISTANCE = "distance"  # level set at the cell centre [m], > 0 in the fluid; not in every plotfile
GEOMETRY = (FRACTION, DISTANCE, "wall_area", "wall_normal", "mineral")
HIDDEN = "vtkGhostType"  # 0 in cells to be shown
UNITS = {"velocity": "m/s", "pressure": "Pa", DISTANCE: "m", "wall_area": "m2"}  # of older files, which contain no units


@dataclass
class Level:
    """One level of boxes: cell width dx [m]; cells of the domain or region; lo and hi, counted from its low corner, are the first and last cells of boxes,
    arrays [box, direction]; first[b] is the first row of box b in the arrays of the level."""

    dx: float
    cells: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    first: np.ndarray


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def _require_parts(file, path):
    """Requires all parts of a plotfile and that they belong to it, because HDF5 returns zeros where a part is missing."""
    for k in range(1, int(file.attrs.get("parts", 0)) + 1):
        name = f"{_text(file.attrs['part_names'])}{k}"
        part = next((p for p in (path.parent / name, path.resolve().parent / name) if p.exists()), None)
        if part is None:
            raise KarstError(f"{path}: its values are in {file.attrs['parts']} parts, of which {path.parent / name} is missing; "
                             "put all of them and the plotfile into one folder")
        try:
            with h5py.File(part, "r") as held:
                own = _text(held.attrs.get("parts_id", "")) == _text(file.attrs["parts_id"])
        except OSError as error:
            raise KarstError(f"{part}: this part of {path} cannot be read as HDF5 ({error})") from None
        if not own:
            raise KarstError(f"{path}: {part} is part of another plotfile; use the parts that were written with this one")


def doubled(values: np.ndarray, axis: int) -> np.ndarray:
    """Twice as many cells along an axis, by linear interpolation between cell centres."""
    before = np.concatenate([values.take([0], axis), values.take(range(values.shape[axis] - 1), axis)], axis)
    after = np.concatenate([values.take(range(1, values.shape[axis]), axis), values.take([-1], axis)], axis)
    pair = np.stack([0.75 * values + 0.25 * before, 0.75 * values + 0.25 * after], axis + 1)
    return pair.reshape(*values.shape[:axis], -1, *values.shape[axis + 1:])


class PlotBoxes:
    """What a plotfile holds, box by box. Arrays are float32, in the units of the file (SI).

    title, time         of the run; [s]
    origin              low corner of what the file holds, from that of the domain [m]: 0, 0, 0 but for a region
    coarsening          cells of the grid along an edge of a cell of the file
    arrays              names and units: {"pressure": "Pa", "velocity": "m/s"}
    components          names of scalars and of components of vectors: "pressure", "velocity_x"
    levels              boxes of each level, the coarsest first
    """

    def __init__(self, path: str | Path):
        try:
            self._file = h5py.File(path, "r")
        except OSError as error:
            raise KarstError(f"{path}: cannot be read as HDF5 ({error}); give a plotfile written by karst") from None
        self.path = Path(path)
        _require_parts(self._file, self.path)
        if "VTKHDF/Level0/CellData" not in self._file:
            raise KarstError(f"{path}: is an HDF5 file but not a plotfile (VTKHDF/Level0 is missing); give one written by karst")
        attributes = self._file.attrs
        self.title = _text(attributes.get("title", "")).strip()
        self.time = float(attributes.get("time", 0.0))  # [s]
        self.coarsening = int(attributes.get("coarsening", 1))
        ends = np.asarray(attributes["region"], np.int64).reshape(3, 2) if "region" in attributes else None
        self._region = ends  # first and last cell of level 0 along x, y, z; None: the whole domain
        self.is_region = ends is not None
        self.levels: list[Level] = []
        while f"VTKHDF/Level{len(self.levels)}" in self._file:
            self.levels.append(self._level(len(self.levels)))
        held = self._file["VTKHDF/Level0/CellData"]
        self.arrays = {name: _text(held[name].attrs.get("units", _older_unit(name))) for name in held if name != HIDDEN}
        self.origin = self._low(0) * self.levels[0].dx
        self._datasets: dict[tuple[int, str], h5py.Dataset | None] = {}
        self._columns: dict[str, tuple[str, int | None]] = {}  # component: array and its column
        for name in self.arrays:
            if held[name].ndim == 2:
                self._columns |= {f"{name}_{'xyz'[c]}": (name, c) for c in range(held[name].shape[1])}
            else:
                self._columns[name] = (name, None)
        self.components = list(self._columns)

    def _level(self, number):
        group = self._file[f"VTKHDF/Level{number}"]
        if "domain_cells" in self._file.attrs:
            cells = np.asarray(self._file.attrs["domain_cells"])
        else:  # an older file
            domain = self._file["level_0"].attrs["prob_domain"]
            cells = np.array([domain[f"hi_{d}"] + 1 for d in "ijk"])
        if self._region is not None:
            cells = self._region[:, 1] - self._region[:, 0] + 1
        corners = group["AMRBox"][:].astype(np.int64)
        lo, hi = corners[:, 0::2] - self._low(number), corners[:, 1::2] - self._low(number)
        first = np.concatenate([[0], np.cumsum((hi - lo + 1).prod(axis=1))])
        return Level(float(group.attrs["Spacing"][0]), cells.astype(np.int64) << number, lo, hi, first)

    def _low(self, number):
        """First cell of a level in the domain."""
        return np.zeros(3, np.int64) if self._region is None else self._region[:, 0] << number

    @property
    def size(self) -> np.ndarray:
        """Edge lengths of the domain or region [m]."""
        return self.levels[0].cells * self.levels[0].dx

    def _number(self, level: int) -> int:
        """A level counted from the coarsest; negative numbers count from the finest."""
        if not -len(self.levels) <= level < len(self.levels):
            raise KarstError(f"level = {level}: {self.path} has the levels 0 to {len(self.levels) - 1}")
        return level % len(self.levels)

    @property
    def spacing(self) -> np.ndarray:
        """Cell widths of the finest level along x, y, z [m]."""
        return np.full(3, self.levels[-1].dx)

    def centres(self, axis: int | str, level: int = -1) -> np.ndarray:
        """Cell centres along an axis in the domain [m], of a level (default the finest)."""
        number, d = self._number(level), axis_number(axis)
        of = self.levels[number]
        return (self._low(number)[d] + np.arange(of.cells[d]) + 0.5) * of.dx

    def fraction(self, axis: int | str, at: float | str) -> float:
        """A place along an axis, as in plane(), as a fraction of the domain or region."""
        d = axis_number(axis)
        return fraction_of(at, float(self.size[d]), int(self.levels[-1].cells[d]), float(self.origin[d]))

    def _cell(self, axis: int, at: float | str, level: int) -> int:
        """The cell of a level at a place along an axis."""
        cells = int(self.levels[level].cells[axis])
        return min(int(self.fraction(axis, at) * cells), cells - 1)

    def _place(self, field):
        """Array and column of a field; None: all columns."""
        if field not in self._columns and field not in self.arrays:
            raise unknown("field", field, self.arrays, str(self.path), self.components)
        return self._columns.get(field, (field, None))

    def unit(self, field: str) -> str:
        """Unit of an array or component, "1" without one."""
        return self.arrays[self._place(field)[0]]

    def _dataset(self, level, name):
        """A dataset, kept open because parts of a plotfile would otherwise be opened again for each box; None if there is none."""
        if (level, name) not in self._datasets:
            self._datasets[level, name] = self._file[f"VTKHDF/Level{level}/CellData"].get(name)
        return self._datasets[level, name]

    def box(self, field: str, level: int, number: int) -> np.ndarray:
        """Values of one box, array [k, j, i], of a vector [k, j, i, component]."""
        name, column = self._place(field)
        level = self._number(level)
        at = self.levels[level]
        if not 0 <= number < len(at.lo):
            raise KarstError(f"box = {number}: level {level} of {self.path} has the boxes 0 to {len(at.lo) - 1}")
        rows = slice(int(at.first[number]), int(at.first[number + 1]))
        held = self._dataset(level, name)
        values = held[rows] if column is None else held[rows, column]
        hidden = None if field.startswith(GEOMETRY) else self._dataset(level, HIDDEN)
        if hidden is not None:
            values[hidden[rows] != 0] = np.nan
        return values.reshape(*(at.hi[number] - at.lo[number] + 1)[::-1], *values.shape[1:])

    def rectangles(self, level: int, axis: int | str, at: float | str) -> list[tuple[float, float, float, float]]:
        """Boxes of a level cut by a plane: list of (x, y, width, height) [m] in the plane's two directions."""
        level, axis = self._number(level), axis_number(axis)
        this, cell = self.levels[level], self._cell(axis, at, level)
        u, v = (d for d in range(3) if d != axis)
        low, size = this.lo * this.dx + self.origin, (this.hi - this.lo + 1) * this.dx
        hit = (this.lo[:, axis] <= cell) & (cell <= this.hi[:, axis])
        return [(low[b, u], low[b, v], size[b, u], size[b, v]) for b in np.flatnonzero(hit)]


class Plotfile(PlotBoxes):
    """A plotfile, open until close() or the end of a `with`: its boxes, as arrays of the domain or of planes, and for other programs."""

    def __enter__(self) -> "Plotfile":
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self._file.close()

    def _assemble(self, field, level, plane):
        """Array of the finest cell width up to `level`; plane: None or (axis, cell of the finest level)."""
        finest = self.levels[level]
        shape = [1 if plane and d == plane[0] else int(finest.cells[d]) for d in range(3)]
        name, column = self._place(field)
        held = self._file[f"VTKHDF/Level0/CellData/{name}"]
        out = np.full((*shape[::-1], *(held.shape[1:] if column is None else ())), np.nan, dtype=np.float32)
        for number, at in enumerate(self.levels[:level + 1]):
            ratio = 2 ** (level - number)
            for b in range(len(at.lo)):
                lo, hi = at.lo[b], at.hi[b] + 1
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

    def uniform(self, field: str, level: int = -1) -> np.ndarray:
        """The whole domain at the cell width of a level (default the finest), finer values over coarser ones, [k, j, i]."""
        return self._assemble(field, self._number(level), None)

    @property
    def has_distance(self) -> bool:
        return DISTANCE in self.components

    def wall_field(self, level: int = -1, plane: tuple[int, float | str] | None = None) -> np.ndarray:
        """A field that is > 0 in the fluid and 0 at the wall, in cells of a level, [k, j, i] or a plane (axis, at).

        The distance if the plotfile contains it (negative outside of boxes and in removed pores), otherwise the fraction minus one half.
        """
        def get(field):
            return self.plane(field, *plane, level) if plane else self.uniform(field, level)
        fraction = get(FRACTION)
        if not self.has_distance:
            return np.clip(fraction, 0.0, 1.0) - 0.5
        distance = get(DISTANCE) / self.levels[level].dx
        solid = (fraction <= 0) & ~(distance <= 0)
        return np.where(solid, -0.5, distance).astype(np.float32)

    def smooth_wall_field(self) -> np.ndarray:
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
        for lo, hi in zip(level.lo, level.hi + 1):
            held[lo[2]:hi[2], lo[1]:hi[1], lo[0]:hi[0]] = True
        return held

    def plane(self, field: str, axis: int | str, at: float | str = 0.5, level: int = -1) -> np.ndarray:
        """Cells cut by a plane across `axis`, at the cell width of a level.

        axis  0, 1, 2 or "x", "y", "z"
        at    a number: fraction of the domain, 0 to 1; a text with a unit: place along the axis, "0.2 mm"

        Returns the array [second direction, first direction], directions in the order x, y, z without `axis`; of a vector with one more
        dimension, its components.
        """
        level, axis = self._number(level), axis_number(axis)
        return self._assemble(field, level, (axis, self._cell(axis, at, level))).squeeze(axis=2 - axis)

    def to_xarray(self, *fields: str, level: int = -1, length: str = "m") -> "xarray.Dataset":
        """Fields (default: all) as an xarray.Dataset at the cell width of a level: dimensions z, y, x and, of vectors, component; coordinates
        are cell centres in the unit `length` ("m", "mm", "um" ...); units and long names are attributes."""
        from karst.labelled import dataset
        return dataset(self, fields, level, length)

    def to_vtk(self, *fields: str, level: int = -1) -> Any:
        """Fields (default: all) as a vtkImageData of the cells of a level. Values of cells without fluid are 0, and VTK hides these cells."""
        from karst.export import vtk_data
        return vtk_data("to_vtk()").image_of_cells(self, fields, level)

    def to_pyvista(self, *fields: str, level: int = -1) -> "pyvista.ImageData":
        """to_vtk() as a pyvista.ImageData."""
        from karst.optional import needs
        return needs("pyvista", "to_pyvista()").wrap(self.to_vtk(*fields, level=level))

    def export(self, output: str | Path, *formats: str, fields: Sequence[str] | None = None, velocity: str | None = None, lines: int = 100) -> list[Path]:
        """Writes files of other programs, as `python -m karst.export`, and returns their paths: OUTPUT.vti, OUTPUT_wall.stl, OUTPUT_velocity.npy ...

        formats   "npy", "vti", "stl", "ply", "vtp", "streamlines"
        fields    for npy and vti; None: all
        velocity  the vector that `lines` streamlines follow; None: the first with velocity in its name
        """
        from karst.export import export
        return export(self, output, formats, fields, velocity, lines)


def length_unit(metres: float) -> tuple[float, str]:
    """(factor, name) of a readable unit for a length of this size."""
    for limit, factor, name in ((1e-3, 1e6, "µm"), (1.0, 1e3, "mm")):
        if metres < limit * 0.999999:
            return factor, name
    return 1.0, "m"


def _older_unit(field: str) -> str:
    """Unit of a field of an older file by its name, "1" if unknown."""
    return next((unit for name, unit in UNITS.items() if name in field), "1")


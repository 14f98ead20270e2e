# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles, their series and slices as xarray.Dataset: dimensions and cell centres by name, units and long names as attributes."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karst.error import KarstError
from karst.optional import needs
from karst.units import length_of

if TYPE_CHECKING:
    import xarray

    from karst.plotfile import Plotfile
    from karst.series import Series
    from karst.slices import Slices

LONG_NAMES = {
    "fraction": "fluid fraction of the cell", "distance": "distance from the wall, positive in the fluid", "wall_area": "wall area in the cell",
    "wall_normal": "normal of the wall, into the fluid", "mineral": "number of the mineral on the wall", "pH": "pH",
}


def long_name(field: str) -> str:
    """What a field is, for the axes of plots.

    >>> long_name("drive_x_velocity"), long_name("concentration_tracer"), long_name("saturation_index_calcite"), long_name("velocity_y")
    ('velocity of the flow driven along x', 'concentration of tracer', 'saturation index of calcite', 'velocity along y')
    """
    drive = re.fullmatch(r"drive_([xyz])_(.+)", field)
    if drive:
        return f"{long_name(drive[2])} of the flow driven along {drive[1]}"
    component = re.fullmatch(r"(.*velocity|wall_normal)_([xyz])", field)
    if component:
        return f"{long_name(component[1])} along {component[2]}"
    of = re.fullmatch(r"(concentration|saturation_index|molality|mineral|sorbed)_(.+)", field)
    if of:
        return f"{of[1].replace('_', ' ')} of {of[2]}"
    return LONG_NAMES.get(field, field.replace("_", " "))


def _xarray() -> Any:
    return needs("xarray", "to_xarray()")


def _coordinates(axes: str, centres: Callable[[str], np.ndarray], vectors: bool, length: str) -> dict[str, Any]:
    metres = length_of(length)
    along = {axis: (axis, centres(axis) / metres, {"units": length, "long_name": axis}) for axis in axes}
    return along | ({"component": ("component", list("xyz"))} if vectors else {})


def _time(times: float | np.ndarray) -> tuple[Any, Any, dict[str, str]]:
    return ("time" if np.ndim(times) else (), times, {"units": "s", "long_name": "time"})


def _variable(name: str, values: np.ndarray, dims: Sequence[str], unit: str) -> tuple[Sequence[str], np.ndarray, dict[str, str]]:
    """Values with as many of the dimensions as they have: scalars lack the component."""
    return dims[:values.ndim], values, {"units": unit, "long_name": long_name(name)}


def _chosen(fields: Sequence[str], plot: "Plotfile") -> list[str]:
    for field in fields:
        plot.unit(field)  # an unknown one is an error before anything is read
    return list(fields or plot.arrays)


def dataset(plot: "Plotfile", fields: Sequence[str], level: int, length: str) -> "xarray.Dataset":
    """Of one plotfile; see Plotfile.to_xarray()."""
    arrays = {name: _variable(name, plot.uniform(name, level), ("z", "y", "x", "component"), plot.unit(name)) for name in _chosen(fields, plot)}
    vectors = any(values.ndim == 4 for _, values, _ in arrays.values())
    coordinates = _coordinates("zyx", lambda axis: plot.centres(axis, level), vectors, length) | {"time": _time(plot.time)}
    return _xarray().Dataset(arrays, coordinates, {"title": plot.title, "source": str(plot.path)})


def _at_level(plot: "Plotfile", field: str, level: int) -> np.ndarray:
    """A field at the cell width of a level that the plotfile need not have: a grid that follows has fewer at some times."""
    own = min(level, len(plot.levels) - 1)
    values = plot.uniform(field, own)
    for axis in range(3):
        values = np.repeat(values, 2 ** (level - own), axis)
    return values


def series_dataset(series: "Series", fields: Sequence[str], level: int, length: str) -> "xarray.Dataset":
    """Of all plotfiles of a series, with the dimension time first; see Series.to_xarray()."""
    finest = max(len(plot.levels) for plot in series)
    if not -finest <= level < finest:
        raise KarstError(f"level = {level}: the plotfiles have the levels 0 to {finest - 1}")
    level %= finest
    with series[0] as first:
        names, units, title = _chosen(fields, first), first.arrays, first.title
        width, cells, low = first.levels[0].dx / 2**level, first.levels[0].cells << level, first.origin
    values: dict[str, np.ndarray] = {}
    for number, plot in enumerate(series):
        for name in names:
            of_time = _at_level(plot, name, level)
            values.setdefault(name, np.empty((len(series), *of_time.shape), of_time.dtype))[number] = of_time
    arrays = {name: _variable(name, values[name], ("time", "z", "y", "x", "component"), units[name]) for name in names}
    vectors = any(array.ndim == 5 for array in values.values())
    coordinates = _coordinates("zyx", lambda axis: low["xyz".index(axis)] + (np.arange(cells["xyz".index(axis)]) + 0.5) * width, vectors, length)
    return _xarray().Dataset(arrays, coordinates | {"time": _time(series.times)}, {"title": title, "source": str(series.paths[0].parent)})


def slices_dataset(slices: "Slices", length: str) -> "xarray.Dataset":
    """Of all slices of one name, with the dimension time first; see Slices.to_xarray()."""
    planes = list(slices)
    axes = "".join(axis for axis in "zyx" if axis != "xyz"[planes[0].axis])
    dims = ("time", *axes, "component")
    arrays = {name: _variable(name, np.stack([plane[name] for plane in planes]), dims, unit) for name, unit in planes[0].arrays.items()}
    vectors = any(values.ndim == 4 for _, values, _ in arrays.values())
    coordinates = _coordinates(axes, planes[0].centres, vectors, length) | {"time": _time(slices.times)}
    return _xarray().Dataset(arrays, coordinates, {"source": str(Path(slices.paths[0]).parent)})

# SPDX-License-Identifier: BSD-3-Clause
"""Classic NetCDF (.nc) through SciPy; with 64-bit data (CDF-5) through netCDF4. NetCDF-4 is HDF5, which karst reads itself."""
from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, choose, in_order, require, set_widths, uniform_step, axis_named


def text_of(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def attribute(owners: tuple[Any, ...], *names: str) -> Any:
    """The first attribute of these names, of the variable or of the file."""
    for owner in owners:
        for name in names:
            if name in owner:
                return owner[name]
    return None


def open_classic(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables, each as (dimensions, shape, attributes, values), and attributes of the file."""
    with open(path, "rb") as file:
        wide = file.read(4)[3:] == b"\x05"
    if wide:
        import netCDF4

        data = netCDF4.Dataset(path)
        data.set_auto_maskandscale(False)
        return {n: (v.dimensions, v.shape, {a: v.getncattr(a) for a in v.ncattrs()}, v) for n, v in data.variables.items()}, {
            a: data.getncattr(a) for a in data.ncattrs()
        }
    import scipy.io

    warnings.filterwarnings("ignore", "Cannot close a netcdf_file", RuntimeWarning)  # its arrays are maps of the file
    try:
        data = scipy.io.netcdf_file(path, "r", mmap=True, maskandscale=False)
        return {n: (v.dimensions, v.shape, v._attributes, v.data) for n, v in data.variables.items()}, data._attributes
    except Exception as error:
        raise KarstError(f"{path}: ends early or is damaged: it cannot be read as NetCDF ({error})") from None


def unsigned(values: np.ndarray, owners: tuple[Any, ...], notes: list[str]) -> np.ndarray:
    """Classic NetCDF has signed integers only; a writer may say that they are meant without sign."""
    if values.dtype.kind != "i" or values.dtype.itemsize > 4:
        return values
    said = text_of(attribute(owners, "_Unsigned", "value_signed") or "").lower()
    if said in ("true", "unsigned"):
        return values.view(values.dtype.str.replace("i", "u"))
    if values.size and values.min() < 0:
        notes.append(f"has values down to {values.min()}, as integers with a sign; if they are meant without sign, its attribute _Unsigned should say so")
    return values


def find_widths(image: Image, dimensions: list[str], variables: dict[str, Any], owners: tuple[Any, ...]) -> None:
    """Widths along x, y, z from voxel_size_xyz with voxel_unit, or from coordinate variables."""
    stated = attribute(owners, "voxel_size_xyz", "voxel_size")
    unit = text_of(attribute(owners, "voxel_unit", "voxel_size_unit", "units_of_voxel_size") or "")
    if stated is not None and not isinstance(stated, (str, bytes)):
        widths = np.atleast_1d(np.asarray(stated, float))
        require(widths.size in (1, 3), f"its voxel_size has {widths.size} numbers; 1 or 3 are needed")
        return set_widths(image, np.broadcast_to(widths, 3), unit, "voxel_unit")
    steps, units = {}, set()
    for n, name in enumerate(dimensions):
        axis = axis_named(name) or "zyx"[3 - len(dimensions) + n]
        if name in variables and len(variables[name][1]) == 1:
            _, _, about, positions = variables[name]
            step = uniform_step(np.asarray(positions[:]))
            if step is None:
                image.note = f"its coordinate {name} is not uniform"
                return None
            steps[axis] = abs(step)
            units.add(text_of(about.get("units", "")))
    if "x" in steps and "y" in steps:
        if len(units) > 1:
            image.note = f"its coordinates have different units: {', '.join(sorted(units))}"
        else:
            set_widths(image, [steps["x"], steps["y"], steps.get("z", steps["x"])], units.pop(), "units")
    return None


def read_netcdf(path: Path, name: str | None) -> Image:
    variables, about = open_classic(path)
    arrays = {n: shape for n, (_, shape, _, _) in variables.items() if len(shape) in (2, 3)}
    dimensions, shape, own, values = variables[choose(path, name, arrays)]
    require(min(shape) > 0, f"{path}: its array has the size {shape}")
    image = Image(None, "NetCDF")
    owners = (own, about)
    values = values if isinstance(values, np.ndarray) else values[:]
    require(values.dtype.kind in "iuf", f"{path}: its values are no numbers ({values.dtype})")
    values = unsigned(values, owners, image.notes)
    if "scale_factor" in own or "add_offset" in own:
        image.notes.append(
            f"its scale_factor {own.get('scale_factor', 1)} and add_offset {own.get('add_offset', 0)} are not applied: values are as stored"
        )
    find_widths(image, list(dimensions), variables, owners)
    values = in_order(path, values, list(dimensions), image.notes)
    image.values = values.reshape((1, *values.shape)) if values.ndim == 2 else values
    return image

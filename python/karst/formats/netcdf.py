# SPDX-License-Identifier: BSD-3-Clause
"""Classic NetCDF (.nc) through SciPy; with 64-bit data (CDF-5) through netCDF4. NetCDF-4 is HDF5, which karst reads itself, but for images in
blocks: a folder of files with planes each, block00000000.nc ..., as Mango writes them."""
from __future__ import annotations

import mmap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, axis_named, choose, in_order, require, require_bytes, set_widths, size_text, uniform_step


def text_of(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def attribute(owners: tuple[Any, ...], *names: str) -> Any:
    """The first attribute of these names, of the variable or of the file."""
    for owner in owners:
        for name in names:
            if name in owner:
                return owner[name]
    return None


SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}  # of types of CDF-5 [bytes]


class Header:
    """The header of a CDF-5 file, number by number. Source: NetCDF Classic Format Specification, Unidata, 64-bit data."""

    def __init__(self, raw: Any):
        self.raw, self.at = raw, 4

    def number(self, width: int) -> int:
        self.at += width
        return int.from_bytes(self.raw[self.at - width : self.at], "big")

    def count(self) -> int:
        n = self.number(8)
        if not self.at <= len(self.raw) or n > len(self.raw):
            raise ValueError(f"a length of {n}")
        return n

    def skip(self, length: int) -> None:
        self.at += -(-length // 4) * 4

    def each(self) -> Iterator[None]:
        """Items of a list, each behind its name."""
        self.number(4)
        for _ in range(self.count()):
            self.skip(self.count())
            yield

    def attributes(self) -> None:
        for _ in self.each():
            size = SIZES[self.number(4)]
            self.skip(size * self.count())


def require_all_values(path: Path) -> None:
    """The library gives 0 where a CDF-5 file ends, and takes memory for whatever its header says."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        header, size = Header(raw), path.stat().st_size
        records, by_record = header.number(8), []
        lengths = [header.number(8) for _ in header.each()]
        header.attributes()
        for _ in header.each():
            shape = [lengths[header.number(8)] for _ in range(header.count())]
            header.attributes()
            needed = SIZES[header.number(4)]
            grows = bool(shape) and shape[0] == 0
            for n in shape[grows:]:
                needed *= n
            header.number(8)
            begin = header.number(8)
            if grows:
                by_record.append((begin, needed))
            require_bytes(path, size, begin + (0 if grows else needed), f"an array of {size_text(shape)} values at byte {begin}")
        step = sum(-(-needed // 4) * 4 for _, needed in by_record) if len(by_record) > 1 else sum(needed for _, needed in by_record)
        for begin, needed in by_record if records > 0 else ():
            require_bytes(path, size, begin + (records - 1) * step + needed, f"an array of {records} records at byte {begin}")


@contextmanager
def by_netcdf4(path: Path) -> Iterator[Any]:
    import netCDF4

    try:
        with open(path, "rb") as file:
            classic = file.read(3) == b"CDF"
        if classic:
            require_all_values(path)
        else:
            h5py.File(path, "r").close()  # it says if the file ends early; netCDF4 does not
        with netCDF4.Dataset(path) as data:
            data.set_auto_maskandscale(False)
            yield data
    except (OSError, RuntimeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise KarstError(f"{path}: ends early or is damaged: it cannot be read as NetCDF ({error})") from None


class Later:
    """Values of a variable, read when they are asked for; the file is open meanwhile alone."""

    def __init__(self, path: Path, name: str):
        self.path, self.name = path, name

    def __getitem__(self, place: Any) -> np.ndarray:
        with by_netcdf4(self.path) as data:
            return np.asarray(data.variables[self.name][place])


def open_classic(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables, each as (dimensions, shape, attributes, values), and attributes of the file."""
    with open(path, "rb") as file:
        start = file.read(4)
    if start[3:] == b"\x05" or start == b"\x89HDF":
        with by_netcdf4(path) as data:
            return {n: (v.dimensions, v.shape, {a: v.getncattr(a) for a in v.ncattrs()}, Later(path, n)) for n, v in data.variables.items()}, {
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


def planes_in(path: Path, owners: tuple[Any, ...]) -> tuple[int, int, int] | None:
    """First plane, the one behind the last, and the planes of all blocks; None: the file states none of them."""
    span, total = attribute(owners, "zdim_range"), attribute(owners, "zdim_total")
    if span is None or total is None:
        return None
    numbers = np.atleast_1d(np.asarray(span)).ravel(), np.atleast_1d(np.asarray(total)).ravel()
    require(
        numbers[0].size == 2 and numbers[1].size == 1 and all(n.dtype.kind in "iu" for n in numbers),
        f"{path}: its zdim_range is {text_of(span)} and its zdim_total {text_of(total)}; two integers and one are needed",
    )
    return int(numbers[0][0]), int(numbers[0][1]) + 1, int(numbers[1][0])


def read_netcdf(path: Path, name: str | None) -> Image:
    if path.is_dir():
        return read_blocks(path, name)
    image, planes = read_file(path, name)
    require(
        planes is None or planes[2] == image.values.shape[0],
        f"{path}: has the planes {planes and planes[0]} to {planes and planes[1] - 1} of {planes and planes[2]} of an image in blocks: put all of its "
        "files into one folder and give the folder",
    )
    return image


class Blocks:
    """Planes of all files, of which one is open at a time. planes: first one and the one behind the last."""

    def __init__(self, files: list[tuple[Path, tuple[int, int]]], name: str | None, shape: tuple[int, ...], dtype: np.dtype[Any]):
        self.files, self.name, self.shape, self.dtype = files, name, shape, dtype
        self._open: tuple[int, np.ndarray] = (-1, np.empty(0))

    def __getitem__(self, k: int) -> np.ndarray:
        n = next(n for n, (_, (first, end)) in enumerate(self.files) if first <= k < end)
        path, (first, end) = self.files[n]
        if self._open[0] != n:
            values = read_file(path, self.name)[0].values
            require(
                values.shape == (end - first, *self.shape[1:]) and values.dtype == self.dtype,
                f"{path}: has {values.shape[0]} planes of {values.shape[2]} x {values.shape[1]} voxels of type {values.dtype}; by the other blocks it "
                f"should have {end - first} of {self.shape[2]} x {self.shape[1]} of type {self.dtype}",
            )
            self._open = (n, values)
        return self._open[1][k - first]


def is_blocks(folder: Path) -> bool:
    """A folder with files .nc that are NetCDF."""
    for path in sorted(folder.glob("*.nc")):
        with open(path, "rb") as file:
            if file.read(4) in (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF"):
                return True
    return False


def read_blocks(folder: Path, name: str | None) -> Image:
    found = []
    for path in sorted(folder.glob("*.nc")):
        variables, about = open_classic(path)
        arrays = {n: shape for n, (_, shape, _, _) in variables.items() if len(shape) in (2, 3)}
        _, _, own, _ = variables[choose(path, name, arrays)]
        planes = planes_in(path, (own, about))
        require(planes, f"{path}: states no zdim_range and zdim_total, by which the blocks of {folder} could be put together; give one file alone")
        found.append((path, planes, text_of(attribute((own, about), "voxel_size_xyz")), text_of(attribute((own, about), "voxel_unit"))))
    found.sort(key=lambda block: block[1][0])
    total, expected = found[0][1][2], 0
    for path, (first, end, planes), *_ in found:
        require(planes == total, f"{path}: is of an image of {planes} planes, {found[0][0]} of one of {total}; keep the blocks of one image in a folder")
        require(
            first == expected and end > first,
            f"{path}: has the planes {first} to {end - 1}, and plane {expected} is the next that is needed; a block is missing or there twice",
        )
        expected = end
    require(expected == total, f"{folder}: its {len(found)} blocks have {expected} of {total} planes; blocks are missing at the end")
    require(len({block[2:] for block in found}) == 1, f"{folder}: its blocks state different voxel sizes")
    image, _ = read_file(found[0][0], name)
    image.values = Blocks([(path, planes[:2]) for path, planes, *_ in found], name, (total, *image.values.shape[1:]), image.values.dtype)
    image.format = f"NetCDF in {len(found)} blocks"
    return image


def read_file(path: Path, name: str | None) -> tuple[Image, tuple[int, int, int] | None]:
    """The image of one file, and which planes of an image in blocks it has."""
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
    return image, planes_in(path, owners)

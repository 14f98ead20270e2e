# SPDX-License-Identifier: BSD-3-Clause
"""Zarr (v2, v3) and OME-Zarr through zarr."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, choose, in_order, metres, require

MARKS = ("zarr.json", ".zarray", ".zgroup", ".zattrs")


def is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / mark).is_file() for mark in MARKS)


def arrays_of(group: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    found = {}
    for name, item in group.members():
        if hasattr(item, "members"):
            found.update(arrays_of(item, f"{prefix}{name}/", depth + 1) if depth < 8 else {})
        else:
            found[prefix + name] = item
    return found


def scale_in(items: Any, rank: int, path: Path) -> np.ndarray:
    """The scale of a list of coordinateTransformations; translations move the whole image."""
    scale = np.ones(rank)
    for item in items or []:
        kind = item.get("type")
        require(
            kind in ("scale", "translation", "identity"),
            f"{path}: its OME metadata have a transformation of type {kind}; only scale and translation are read",
        )
        if kind == "scale":
            factors = np.asarray(item.get("scale", []), float)
            require(
                factors.shape == (rank,) and np.all(np.isfinite(factors)) and np.all(factors != 0),
                f"{path}: its OME scale {item.get('scale')} needs {rank} numbers, not 0",
            )
            scale = scale * factors
    return scale


def read_ome(path: Path, group: Any, multiscales: Any, name: str | None) -> Image:
    """The finest resolution of an OME-NGFF image; axes and scale as its metadata say."""
    require(
        isinstance(multiscales, list) and len(multiscales) == 1 and multiscales[0].get("datasets"),
        f"{path}: its OME metadata describe {len(multiscales or [])} images; one is needed",
    )
    about = multiscales[0]
    levels = {str(level["path"]): level for level in about["datasets"]}
    chosen = name if name is not None else next(iter(levels))
    require(chosen in levels, f"{path}: has no resolution {chosen}; it has {', '.join(levels)}")
    array = group[chosen]
    axes = [axis if isinstance(axis, dict) else {"name": axis} for axis in about.get("axes", [])] or [
        {"name": letter} for letter in "tczyx"[5 - array.ndim :]
    ]
    require(len(axes) == array.ndim, f"{path}: its OME metadata name {len(axes)} axes, its array has {array.ndim}")
    scale = scale_in(levels[chosen].get("coordinateTransformations"), array.ndim, path) * scale_in(
        about.get("coordinateTransformations"), array.ndim, path
    )
    space = [n for n, axis in enumerate(axes) if axis.get("type", "space" if axis["name"].lower() in "xyz" else "other") == "space"]
    others = [n for n in range(array.ndim) if n not in space]
    counts = ", ".join(f"{array.shape[n]} along {axes[n]['name']}" for n in others)
    require(
        len(space) in (2, 3) and all(array.shape[n] == 1 for n in others),
        f"{path}: has {counts}: more than one of channels and times; save one of them as an image of its own",
    )
    names = [str(axes[n]["name"]) for n in space]
    image = Image(Planes(array, space), "OME-Zarr")
    if len(levels) > 1 and name is None:
        image.notes.append(f"has {len(levels)} resolutions: {chosen}, the first, is read")
    units = {str(axes[n].get("unit") or "") for n in space}
    image.values = in_order(path, image.values, names, image.notes)
    widths = dict(zip(names, scale[space]))
    if {"x", "y"} <= set(widths):
        of_unit = {n: (metres(str(axes[i].get("unit") or "")) or 0.0) for n, i in zip(names, space)}
        if all(of_unit.values()):
            image.widths, image.unit = tuple(float(widths.get(n, widths["x"]) * of_unit.get(n, of_unit["x"])) for n in "xyz"), 1.0
        elif len(units) == 1:
            image.widths = tuple(float(widths.get(n, widths["x"])) for n in "xyz")
            if units != {""}:
                image.notes.append(f"its unit {units.pop()} is unknown")
    return image


class Planes:
    """Planes along the first of the axes of space, slabs of chunks at a time."""

    def __init__(self, array: Any, space: list[int] | None = None):
        self.array = array
        self.space = list(range(array.ndim)) if space is None else space
        shape = tuple(array.shape[n] for n in self.space)
        self.shape = shape if len(shape) == 3 else (1, *shape)
        self.dtype = array.dtype
        self._first, self._slab = -1, np.zeros(0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array([self[k] for k in range(self.shape[0])], dtype)

    def __getitem__(self, k: int) -> np.ndarray:
        if len(self.space) == 2:
            return self._read(None, None)[0]
        thick = max(1, self.array.chunks[self.space[0]])
        if self._first != k // thick * thick:
            self._first = k // thick * thick
            self._slab = self._read(self._first, min(self._first + thick, self.shape[0]))
        return self._slab[k - self._first]

    def _read(self, first: int | None, last: int | None) -> np.ndarray:
        part: list[Any] = [slice(None) if n in self.space else 0 for n in range(self.array.ndim)]
        if first is not None:
            part[self.space[0]] = slice(first, last)
        try:
            values = np.asarray(self.array[tuple(part)])
        except Exception as error:
            raise KarstError(f"{self.array.name or 'the array'}: a chunk is damaged ({error})") from None
        return values if values.ndim == 3 else values[np.newaxis]


def missing_chunks(array: Any, notes: list[str]) -> None:
    """A chunk that is not in the store has the fill value, as Zarr defines it; it may also have been lost."""
    absent = array.nchunks - array.nchunks_initialized
    if absent > 0:
        notes.append(f"{absent} of its {array.nchunks} chunks are not in the folder: their voxels have the fill value {array.fill_value}")


def read_zarr(path: Path, name: str | None) -> Image:
    import zarr

    try:
        node = zarr.open(str(path), mode="r")
        if hasattr(node, "members"):
            ome = node.attrs.get("ome", node.attrs)
            multiscales = ome.get("multiscales") if hasattr(ome, "get") else None
            if multiscales is not None:
                image = read_ome(path, node, multiscales, name)
                missing_chunks(node[name or str(multiscales[0]["datasets"][0]["path"])], image.notes)
                return image
            arrays = arrays_of(node)
            array = arrays[choose(path, name, {n: a.shape for n, a in arrays.items() if a.ndim in (2, 3)})]
        else:
            require(name is None, f'{path}: is one array; remove ":{name}"')
            array = node
        require(array.ndim in (2, 3), f"{path}: its array has {array.ndim} axes; two or three (z, y, x) are needed")
        image = Image(Planes(array), "Zarr")
        missing_chunks(array, image.notes)
        names = list(getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS") or [])
        if len(names) == array.ndim and all(names):
            image.values = in_order(path, image.values, [str(n) for n in names], image.notes)
        image.note = "Zarr states no widths"
        return image
    except KarstError:
        raise
    except Exception as error:
        raise KarstError(f"{path}: cannot be read as Zarr ({error})") from None

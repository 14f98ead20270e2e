# SPDX-License-Identifier: BSD-3-Clause
"""Slices of a transient run (deck: [[output.slice]])."""
from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karst.error import KarstError, unknown
from karst.series import entry, listed
from karst.units import axis_number

if TYPE_CHECKING:
    import xarray


class Slice:
    """One slice: a layer of cells, or a mean along an axis.

        slice.time, slice.axis               [s]; normal of the plane: 0, 1, 2
        slice.origin, slice.spacing          lower corner, cell widths, arrays (3) [m]
        slice.arrays                         names and units: {"velocity": "m/s", ...}
        slice["velocity"]                    array [second direction, first direction], vectors with a third dimension;
                                             directions in the order x, y, z without the axis; NaN without fluid
    """

    def __init__(self, path: str | Path):
        data = Path(path).read_bytes()
        head, marker, blocks = data.partition(b'<AppendedData encoding="raw">\n_')
        if not marker or b'type="ImageData"' not in head:
            raise KarstError(f"{path}: is not a slice (ImageData with appended raw data); give a file slice_NAME_0001.vti")
        image: Any = xml.fromstring(head + b"</VTKFile>").find("ImageData")
        numbers = {name: np.array(image.get(name).split(), dtype=float) for name in ("WholeExtent", "Origin", "Spacing")}
        self.origin, self.spacing = numbers["Origin"], numbers["Spacing"]
        self._cells = cells = numbers["WholeExtent"][1::2].astype(int)
        self.axis = int(np.flatnonzero(cells == 1)[-1]) if (cells == 1).any() else 2
        self.time = float(image.find("FieldData/DataArray").text)
        self._values: dict[str, np.ndarray] = {}
        self.arrays: dict[str, str] = {}
        for array in image.iter("DataArray"):
            if array.get("format") != "appended":
                continue
            start = int(array.get("offset"))
            size = int(np.frombuffer(blocks, "<u8", 1, start)[0])
            values = np.frombuffer(blocks, "<f4", size // 4, start + 8)
            parts = int(array.get("NumberOfComponents"))
            shape = [*cells[::-1], *([parts] if parts > 1 else [])]
            self._values[array.get("Name")] = values.reshape(shape).squeeze(axis=2 - self.axis)
            self.arrays[array.get("Name")] = array.findtext("InformationKey")

    def __getitem__(self, field: str) -> np.ndarray:
        if field not in self._values:
            raise unknown("field", field, self._values, "the slice")
        return self._values[field]

    def centres(self, axis: int | str) -> np.ndarray:
        """Cell centres along an axis [m]."""
        d = axis_number(axis)
        return self.origin[d] + (np.arange(self._cells[d]) + 0.5) * self.spacing[d]


class Slices:
    """The slices of one name in order of time.

        slices = Slices("out/run/slice_z.vti.series")    slices.times: array [s]
        for slice in slices: ...                         slices[-1], len(slices)
        slices.to_xarray()                               all times in one xarray.Dataset
    """

    def __init__(self, path: str | Path):
        files = listed(Path(path))
        self.paths = [file for file, _ in files]
        self.times = np.array([time for _, time in files])

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Slice:
        return Slice(entry(self.paths, number, "slices"))

    def __iter__(self) -> Iterator[Slice]:
        return map(Slice, self.paths)

    def to_xarray(self, length: str = "m") -> "xarray.Dataset":
        """All slices as an xarray.Dataset: dimensions time [s], the two directions of the plane and, of vectors, component. length: unit of
        the coordinates."""
        from karst.labelled import slices_dataset
        return slices_dataset(self, length)

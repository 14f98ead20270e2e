# SPDX-License-Identifier: BSD-3-Clause
"""Import of images, and synthetic images."""
from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karst.error import KarstError
from karst.geometry import Geometry
from karst.program import call, find_program, with_this_python


def option_words(options: dict[str, Any]) -> list[str]:
    """--name value for each option; lists separated by commas, booleans as true and false, None omitted."""
    words = []
    for name, value in options.items():
        if value is None:
            continue
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        words += [f"--{name}", ",".join(str(item).lower() if isinstance(item, bool) else str(item) for item in items)]
    return words


def without_mask(array: np.ndarray) -> np.ndarray:
    """The array itself; of one with a mask its values. Masked voxels have none: they are an error, not the values below the mask."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    masked = int(np.ma.count_masked(array))
    if masked:
        raise KarstError(f"the array is masked: {masked} of its {array.size} voxels have no value; say what they are, such as array.filled(1)")
    return array.data


def import_image(image: str | Path | np.ndarray, output: str | Path, *, voxel: float | str | None = None, overwrite: bool = False,
                 page: bool = True, threads: int | None = None, ranks: int = 1, program: str | Path | None = None, **options: Any) -> Geometry:
    """`karst import`: converts an image to a geometry file. Raises RunError with the program's message if it fails.

    image    a file, a folder or pattern of slices, or an array [k, j, i] (z first) of gray values or labels; also DICOM, Amira, legacy VTK,
             NetCDF, MATLAB and Zarr (karst.formats)
    output   the geometry file (.h5)
    voxel    width [m], or a string with a unit: "5.3 um"; required if the image does not contain it
    page     also write the report of the import, next to the output
    options  those of `karst import`: pore=0, segment="multi-otsu", names=["pore", "quartz"], keep_axes=[False, False, True]
    """
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(image, np.ndarray):
            array, image = without_mask(image), Path(folder) / "array.npy"
            np.save(image, np.ascontiguousarray(array))
        words = [str(program or find_program()), "import", str(image), "--output", str(output), *option_words({"voxel": voxel, "threads": threads, **options})]
        words += ["--overwrite"] if overwrite else []
        words += [] if page else ["--page", "none"]
        call(words, ranks, environment=with_this_python())
    return Geometry(output)


def make_image(output: str | Path, *, program: str | Path | None = None, **options: Any) -> Path:
    """`karst-make-image`: a synthetic CT image whose geometry is known exactly. Returns its path.

    output   NAME.tif, NAME_%04d.tif (a file per slice) or NAME.raw
    options  those of karst-make-image: kind="packing", size=64, radius=8, porosity=0.4, voxel=5e-6, seed=3
    """
    call([str(program or find_program("karst-make-image")), "-o", str(output), *option_words(options)])
    return Path(output)

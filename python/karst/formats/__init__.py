# SPDX-License-Identifier: BSD-3-Clause
"""Images of formats that karst does not read itself: DICOM, Amira and Avizo, legacy VTK, classic NetCDF and NetCDF in blocks, MATLAB before
7.3, Zarr and OME-Zarr; whatever bzip2, xz or zstd compressed.

    image = karst.read_image("rock.am")         # image.values [k, j, i], image.widths, image.unit, image.notes
    karst.import_image("rock.am", "rock.h5")    # geometry file; `karst import rock.am -o rock.h5` does the same

    python3 -m karst.formats rock.am -o rock_image.h5    # an HDF5 image with its widths, for a machine without Python

Their libraries: pip install './python[formats]' in a clone of the project.
"""
from __future__ import annotations

import json
import sys
from pathlib import Path

import h5py
import numpy as np

from karst.error import KarstError
from karst.formats.amira import read_amira
from karst.formats.dicom import is_dicom, read_dicom
from karst.formats.image import Image, Reader, require
from karst.formats.legacy_vtk import read_legacy_vtk
from karst.formats.matlab import is_matlab4, read_matlab, read_matlab4
from karst.formats.netcdf import is_blocks, read_netcdf
from karst.formats.zarr_store import is_zarr, read_zarr

__all__ = ["Image", "compression_of", "read_image", "write_image"]

STARTS: tuple[tuple[bytes, Reader], ...] = (
    (b"# AmiraMesh", read_amira),
    (b"# Avizo", read_amira),
    (b"# vtk DataFile", read_legacy_vtk),
    (b"MATLAB 5.0 MAT-file", read_matlab),
    (b"CDF\x01", read_netcdf),
    (b"CDF\x02", read_netcdf),
    (b"CDF\x05", read_netcdf),
)
PACKED = ((b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))


def first_bytes(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(64)


def compression_of(path: Path) -> str | None:
    """bzip2, xz or zstd, by the first bytes."""
    if not path.is_file():
        return None
    start = first_bytes(path)
    return next((name for mark, name in PACKED if start.startswith(mark)), None)


def reader_of(path: Path) -> Reader | None:
    """By the first bytes, never by the name."""
    if path.is_dir():
        return read_zarr if is_zarr(path) else read_netcdf if is_blocks(path) else read_dicom
    if is_dicom(path):
        return read_dicom
    if is_matlab4(path):
        return read_matlab4
    start = first_bytes(path)
    return next((reader for mark, reader in STARTS if start.startswith(mark)), None)


def parted(path: str | Path) -> tuple[Path, str | None]:
    """FILE:ARRAY as file and array."""
    text = str(path)
    while not Path(text).exists() and ":" in text:
        text = text.rpartition(":")[0]
    name = str(path)[len(text) + 1 :]
    return Path(text), name or None


def missing(path: str | Path, error: ImportError) -> KarstError:
    """All packages of all formats are named, so that none is asked for after the other."""
    return KarstError(f"{path}: reading it needs the Python package {error.name}: {sys.executable} -m pip install scipy pydicom zarr netCDF4 zstandard")


def read_image(path: str | Path) -> Image:
    """An image of one of these formats; FILE:ARRAY if the file has several. Raises KarstError if it is damaged or not understood."""
    file, name = parted(path)
    require(file.exists(), f"{file}: no such file")
    reader = reader_of(file)
    if reader is None:
        raise KarstError(
            f"{file}: its first bytes are of none of these formats: DICOM, AmiraMesh, Avizo, legacy VTK, classic NetCDF, MATLAB before 7.3, Zarr"
        )
    try:
        image = reader(file, name)
    except ImportError as error:
        raise missing(file, error) from None
    except (KarstError, OSError, MemoryError):
        raise
    except Exception as error:  # of a library, for a damaged file
        raise KarstError(f"{file}: is damaged: it cannot be read ({type(error).__name__}: {str(error)[:200]})") from None
    kind = np.dtype(image.values.dtype)
    require(kind.kind in "biuf" and kind.itemsize <= 8, f"{file}: its values are {kind}; real numbers of up to 64 bits are read")
    require(len(image.values.shape) == 3 and min(image.values.shape) > 0, f"{file}: its array has the size {image.values.shape}; none may be 0")
    return image


def write_image(image: Image, output: str | Path, source: str = "") -> None:
    """An HDF5 file that `karst import` reads: the array, and what is known of it."""
    kind = np.dtype(image.values.dtype)
    stored = np.dtype("u1") if kind.kind == "b" else np.dtype("f4") if kind == np.float16 else kind.newbyteorder("<")
    about = {
        "path": source,
        "format": image.format,
        "widths": image.widths,
        "unit": image.unit,
        "notes": image.notes,
        "note": image.note,
        "labels": image.labels,
        "black": image.black,
    }
    with h5py.File(output, "w") as file:
        data = file.create_dataset("image", image.values.shape, stored)
        for k in range(image.values.shape[0]):
            data[k] = image.values[k]
        data.attrs["karst_image"] = np.bytes_(json.dumps(about).encode())

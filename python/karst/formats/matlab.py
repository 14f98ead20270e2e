# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB files before 7.3 (.mat v4 to v7) through SciPy. Those of 7.3 are HDF5, which karst reads itself."""
from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, choose, require

CLASSES = ("double", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


NUMBERS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}  # types of elements
MATRIX, HEADER = 14, 128
NUMERIC, COMPLEX = range(6, 16), 0x800  # classes of arrays; flag


def check_elements(path: Path) -> None:
    """Types of the elements of uncompressed numeric arrays: SciPy crashes for others. Compressed ones have a check sum."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        order = "<" if file.read(HEADER)[126:] == b"IM" else ">"

        def tag(at: int) -> tuple[int, int, int]:
            """Type and length of an element, and where the next begins."""
            file.seek(at)
            start = file.read(8)
            require(len(start) == 8, f"{path}: ends early: an element is expected at byte {at}")
            kind, length = struct.unpack(order + "II", start)
            return (kind & 0xFFFF, kind >> 16, at + 8) if kind >> 16 else (kind, length, at + 8 + (length + 7) // 8 * 8)

        at = HEADER
        while at + 8 <= size:
            file.seek(at)
            kind, length = struct.unpack(order + "II", file.read(8))
            inner, end, parts = at + 8, at + 8 + length, []
            while kind == MATRIX and inner < end:
                part, _, following = tag(inner)
                if part == MATRIX:  # a cell or a member of a structure, which is not read
                    break
                require(part in NUMBERS and following > inner, f"{path}: is damaged: its element at byte {inner} has the unknown type {part}")
                parts.append(inner)
                inner = following
            if kind == MATRIX and inner >= end:
                file.seek(parts[0] + 8 if parts else at)
                flags = struct.unpack(order + "I", file.read(4))[0]
                whole = flags & 0xFF in NUMERIC and len(parts) == (5 if flags & COMPLEX else 4)
                require(whole or flags & 0xFF not in NUMERIC, f"{path}: is damaged: its array at byte {at} has {len(parts)} elements")
            at = end


def read_matlab(path: Path, name: str | None) -> Image:
    import scipy.io

    check_elements(path)
    try:
        arrays = {n: shape for n, shape, kind in scipy.io.whosmat(path) if kind in CLASSES and len(shape) in (2, 3)}
    except Exception as error:
        raise KarstError(f"{path}: ends early or is damaged: it cannot be read as a MATLAB file ({error})") from None
    chosen = choose(path, name, {n: shape[::-1] for n, shape in arrays.items()})
    count = int(np.prod(arrays[chosen], dtype=object))
    require(
        0 < count <= 1100 * path.stat().st_size, f"{path}: its array {chosen} of {count} values does not fit into the file of {path.stat().st_size} bytes"
    )
    try:
        values = np.asarray(scipy.io.loadmat(path, variable_names=[chosen])[chosen])
    except Exception as error:
        raise KarstError(f"{path}: its array {chosen} ends early or is damaged ({error})") from None
    require(
        values.shape == tuple(arrays[chosen]) and values.dtype.kind in "biuf", f"{path}: its array {chosen} holds {values.dtype}; real numbers are needed"
    )
    return image_of(values)


def image_of(values: np.ndarray) -> Image:
    """A(i, j, k): the first index is the fastest."""
    image = Image(np.transpose(values).reshape((*values.shape, 1)[2::-1]), "MATLAB", note="MATLAB states no widths")
    image.notes.append(
        "of the MATLAB array A(i, j, k) the first index is x, the second y, the third z. If its first index is the row of a picture, as imread "
        "gives them, `axes = yxz` exchanges x and y"
    )
    return image


OLD_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")  # by the third digit of the type of an array of MATLAB 4


def old_arrays(path: Path) -> list[tuple[str, int, int, int, int, str]] | None:
    """Arrays of MATLAB 4: name, rows, columns, kind (0: full, not text or sparse), whether complex, type of the numbers. None: the file is none
    of it. Such files have no mark: their five numbers, the name and the length have to fit.

    Source: MAT-File Format, The MathWorks, level 4."""
    found, size = [], path.stat().st_size
    with open(path, "rb") as file:
        while file.tell() < size:
            at, head = file.tell(), file.read(20)
            order = ">" if head[:2] == bytes(2) != head[2:4] else "<"
            code, rows, columns, is_complex, length = struct.unpack(order + "5i", head) if len(head) == 20 else (-1,) * 5
            machine, number, kind = code // 1000, code // 10 % 100, code % 10
            if machine != (order == ">") or number >= len(OLD_TYPES) or kind > 2 or min(rows, columns) < 0 or is_complex not in (0, 1):
                return None
            name = file.read(length) if 2 <= length <= 64 else b""
            values = np.dtype(order + OLD_TYPES[number])
            end = at + 20 + length + values.itemsize * rows * columns * (1 + is_complex)
            if not re.fullmatch(rb"[A-Za-z]\w*\0+", name) or end > size:
                return None
            found.append((name.rstrip(b"\0").decode(), rows, columns, kind, is_complex, values.str))
            file.seek(end)
    return found or None


def is_matlab4(path: Path) -> bool:
    return bool(old_arrays(path))


def read_matlab4(path: Path, name: str | None) -> Image:
    """Arrays of two indices, thus an image of one plane."""
    import scipy.io

    there = old_arrays(path) or []
    chosen = choose(path, name, {n: (columns, rows) for n, rows, columns, kind, is_complex, _ in there if kind == is_complex == 0})
    values = np.asarray(scipy.io.loadmat(path, variable_names=[chosen])[chosen])
    return image_of(values)

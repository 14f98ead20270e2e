# SPDX-License-Identifier: BSD-3-Clause
"""Legacy VTK (.vtk): STRUCTURED_POINTS, points or cells, text or binary (high byte first).

VTK's own reader fills what a truncated file lacks with anything; here every length is checked.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, choose, require, require_bytes, set_widths, size_text

TYPES = {
    "unsigned_char": "u1",
    "char": "i1",
    "unsigned_short": "u2",
    "short": "i2",
    "unsigned_int": "u4",
    "int": "i4",
    "unsigned_long": "u8",
    "long": "i8",
    "vtktypeint64": "i8",
    "vtktypeuint64": "u8",
    "vtkidtype": "i4",
    "float": "f4",
    "double": "f8",
}
COMPONENTS = {"vectors": 3, "normals": 3, "tensors": 9, "tensors6": 6, "texture_coordinates": 0, "color_scalars": 0}


@dataclass
class Array:
    name: str
    cells: bool
    components: int
    count: int
    values: np.ndarray


class Text:
    """The bytes of the file from a place on: lines and words of the header, values between them."""

    def __init__(self, path: Path):
        self.path, self.bytes, self.at = path, np.memmap(path, np.uint8, "r"), 0

    def line(self) -> str | None:
        """The next line that is not empty."""
        while self.at < len(self.bytes):
            piece = bytes(self.bytes[self.at : self.at + 4096])
            end = piece.find(b"\n")
            require(end >= 0 or len(piece) < 4096, f"{self.path}: has a line of more than 4096 bytes where a keyword is expected (byte {self.at})")
            self.at += len(piece) if end < 0 else end + 1
            text = piece[: end if end >= 0 else None].decode("latin-1").strip()
            if text:
                return text
        return None

    def values(self, kind: str, count: int, binary: bool) -> np.ndarray:
        return self.binary(kind, count) if binary else self.words(kind, count)

    def binary(self, kind: str, count: int) -> np.ndarray:
        left = len(self.bytes) - self.at
        if kind == "bit":
            length = (count + 7) // 8
            require_bytes(self.path, left, length, f"an array of {count} bits")
            packed = self.bytes[self.at : self.at + length]
            self.at += length
            return np.unpackbits(packed)[:count]
        form = np.dtype(">" + TYPES[kind])
        if kind in ("long", "unsigned_long") and 4 * count <= left < 8 * count and left - 4 * count < 256:
            form = np.dtype(form.str.replace("8", "4"))  # of 32 bits, as Windows has them
        require_bytes(self.path, left, form.itemsize * count, f"an array of {count} {kind}")
        found = np.memmap(self.path, form, "r", self.at, (count,)) if count else np.zeros(0, form)
        self.at += form.itemsize * count
        return found

    def words(self, kind: str, count: int) -> np.ndarray:
        left = bytes(self.bytes[self.at :])
        require_bytes(self.path, len(left) + 1, 2 * count, f"an array of {count} {kind}")
        words = left.split(None, count)
        require(len(words) >= count, f"{self.path}: ends early: an array of {count} {kind} has {len(words)} values")
        rest = words[count] if len(words) > count else b""
        self.at = len(self.bytes) - len(rest)
        try:
            wide = np.array(words[:count], float if TYPES.get(kind, "u1")[0] == "f" else np.int64)
        except ValueError as error:
            raise KarstError(f"{self.path}: an array of {count} {kind} has other words than numbers ({error})") from None
        form = np.dtype(TYPES.get(kind, "u1"))
        require(
            form.kind == "f" or count == 0 or (wide.min() >= np.iinfo(form).min and wide.max() <= np.iinfo(form).max),
            f"{self.path}: has numbers that are no {kind}",
        )
        return wide.astype(form)


def count_in(words: list[str], at: int, path: Path) -> int:
    require(len(words) > at and words[at].isdigit() and int(words[at]) < 1 << 40, f"{path}: \"{' '.join(words)}\": a number is expected as word {at + 1}")
    return int(words[at])


def three(words: list[str], path: Path) -> list[float]:
    try:
        values = [float(word) for word in words[1:4]]
    except ValueError:
        values = []
    require(len(values) == 3 and all(np.isfinite(values)), f"{path}: \"{' '.join(words)}\": three numbers are needed")
    return values


def known_type(word: str, path: Path) -> str:
    kind = word.lower()
    require(kind in TYPES or kind == "bit", f"{path}: has values of the type {word}; those read are bit, {', '.join(TYPES)}")
    return kind


def fields(text: Text, words: list[str], cells: bool, binary: bool) -> Iterator[Array]:
    """FIELD name n, then n times: name components tuples type."""
    for _ in range(count_in(words, 2, text.path)):
        head = (text.line() or "").split()
        if head and head[0] == "METADATA":
            skip_metadata(text)
            head = (text.line() or "").split()
        require(len(head) == 4, f"{text.path}: an array of a FIELD begins with \"{' '.join(head)[:60]}\", not with its name, components, tuples and type")
        components, count = count_in(head, 1, text.path), count_in(head, 2, text.path)
        yield Array(head[0], cells, components, count, text.values(known_type(head[3], text.path), components * count, binary))


def skip_metadata(text: Text) -> None:
    """METADATA ends with an empty line."""
    end = re.search(rb"\n[ \t]*\r?\n", bytes(text.bytes[text.at - 1 : text.at + (1 << 16)]))
    text.at = text.at - 1 + end.end() if end else len(text.bytes)


def scalars(text: Text, words: list[str], cells: bool, count: int, binary: bool) -> Array:
    """SCALARS name type [components], then LOOKUP_TABLE name."""
    require(len(words) in (3, 4), f"{text.path}: \"{' '.join(words)}\": SCALARS needs a name and a type")
    components = count_in(words, 3, text.path) if len(words) == 4 else 1
    before = text.at
    if not (text.line() or "").startswith("LOOKUP_TABLE"):
        text.at = before
    return Array(words[1], cells, components, count, text.values(known_type(words[2], text.path), components * count, binary))


def attributes(text: Text, binary: bool) -> Iterator[Array]:
    """All arrays behind the header of the geometry."""
    cells, count = False, None
    while (line := text.line()) is not None:
        words = line.split()
        key = words[0].lower()
        if key in ("point_data", "cell_data"):
            cells, count = key == "cell_data", count_in(words, 1, text.path)
        elif key == "metadata":
            skip_metadata(text)
        elif key == "field":
            yield from fields(text, words, cells, binary)
        elif key == "lookup_table":
            text.values("unsigned_char" if binary else "float", 4 * count_in(words, 2, text.path), binary)
        else:
            require(count is not None, f'{text.path}: "{line[:60]}" stands where POINT_DATA or CELL_DATA is expected')
            if key == "scalars":
                yield scalars(text, words, cells, count, binary)
            elif key == "color_scalars":
                components = count_in(words, 2, text.path)
                yield Array(words[1], cells, components, count, text.values("unsigned_char" if binary else "float", components * count, binary))
            elif key in ("vectors", "normals", "tensors") and len(words) == 3:
                yield Array(words[1], cells, COMPONENTS[key], count, text.values(known_type(words[2], text.path), COMPONENTS[key] * count, binary))
            else:
                raise KarstError(f'{text.path}: "{line[:60]}" is no keyword that is read here; save it as .vti (ParaView: File > Save Data)')


def geometry(text: Text, path: Path) -> tuple[list[int], list[float], bool]:
    """Points along x, y, z, their distances, and whether the values are binary."""
    require((text.line() or "").startswith("# vtk DataFile"), f"{path}: does not begin as a legacy VTK file")
    end = bytes(text.bytes[text.at : text.at + 4096]).find(b"\n")  # the title, which may be empty
    text.at += max(end + 1, 0)
    storage = (text.line() or "").upper()
    require(storage in ("ASCII", "BINARY"), f'{path}: its third line is "{storage[:40]}", not ASCII or BINARY')
    dataset = (text.line() or "").split()
    require(dataset[:1] == ["DATASET"] and len(dataset) == 2, f"{path}: has no line DATASET")
    require(dataset[1].upper() == "STRUCTURED_POINTS", f"{path}: its data set is {dataset[1]}; images are STRUCTURED_POINTS")
    size: list[int] = []
    steps = [1.0, 1.0, 1.0]
    before = text.at
    while (line := text.line()) is not None:
        words = line.split()
        if words[0].upper() == "DIMENSIONS":
            size = [count_in(words, n, path) for n in (1, 2, 3)]
        elif words[0].upper() in ("SPACING", "ASPECT_RATIO"):
            steps = three(words, path)
        elif words[0].upper() not in ("ORIGIN", "METADATA"):
            text.at = before
            break
        elif words[0].upper() == "METADATA":
            skip_metadata(text)
        before = text.at
    require(size and min(size) > 0, f"{path}: has no DIMENSIONS, or one of them is 0")
    return size, steps, storage == "BINARY"


def read_legacy_vtk(path: Path, name: str | None) -> Image:
    text = Text(path)
    points, steps, binary = geometry(text, path)
    cells = [max(n - 1, 1) for n in points]
    found: dict[str, Array] = {}
    for array in attributes(text, binary):
        size = cells if array.cells else points
        if array.components == 1 and array.count == size[0] * size[1] * size[2]:
            found[array.name] = array
        else:
            require(
                array.components != 1 or array.count <= 1,
                f"{path}: its array {array.name} has {array.count} values, its {'cells' if array.cells else 'points'} are {size_text(size)}",
            )
    chosen = found[choose(path, name, {n: (cells if a.cells else points)[::-1] for n, a in found.items()})]
    image = Image(chosen.values.reshape((cells if chosen.cells else points)[::-1]), f"legacy VTK, {'cells' if chosen.cells else 'points'}")
    set_widths(image, [abs(step) for step in steps], "", "SPACING")
    return image

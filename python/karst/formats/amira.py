# SPDX-License-Identifier: BSD-3-Clause
"""AmiraMesh and Avizo (.am): a uniform lattice, raw, HxByteRLE, HxZip or text. There is no kept library for them."""
from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, choose, require, require_bytes, set_widths

TYPES = {"byte": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8"}
MOST_HEADER = 1 << 24  # bytes in which the data section must begin
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


@dataclass
class Data:
    """`Lattice { byte Labels } @1(HxByteRLE,1234)`: an array of the file."""

    lattice: str
    type: str
    components: int
    name: str
    section: str
    encoding: str
    bytes: int


def header_of(path: Path) -> tuple[str, int]:
    """The text in front of the data, and where the first section begins."""
    with open(path, "rb") as file:
        start = file.read(MOST_HEADER)
    found = re.search(rb"^@\d+[ \t]*\r?\n", start, re.M)
    require(found, f"{path}: ends early: has no data section (@1) within its first {len(start)} bytes")
    return start[: found.start()].decode("utf-8", "replace"), found.start()


def group(text: str, name: str) -> str | None:
    """What stands between the braces of `name { ... }`."""
    found = re.search(rf"(?<!\w){name}\s*\{{", text)
    if not found:
        return None
    depth, at = 1, found.end()
    while at < len(text) and depth > 0:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[found.end() : at - 1]


def numbers(text: str, name: str, count: int, path: Path) -> list[float] | None:
    found = re.search(rf"(?<!\w){name}((?:[\s,]+{NUMBER})+)", text)
    if not found:
        return None
    values = [float(word) for word in re.findall(NUMBER, found[1])]
    require(len(values) == count and all(np.isfinite(values)), f"{path}: {name} has {len(values)} numbers, {count} are needed")
    return values


def lattices(header: str) -> dict[str, tuple[int, ...]]:
    """Sizes along x, y, z of `define Lattice nx ny nz`."""
    return {name: tuple(int(n) for n in sizes.split()) for name, sizes in re.findall(r"^[ \t]*define[ \t]+(\w+)((?:[ \t]+\d+)+)", header, re.M)}


def arrays(header: str) -> list[Data]:
    form = r"^[ \t]*(\w+)\s*\{\s*(\w+)(?:\s*\[\s*(\d+)\s*\])?\s+(\w+)\s*\}\s*=?\s*@(\d+)(?:\s*\(\s*(\w+)\s*,\s*(\d+)\s*\))?"
    return [
        Data(lattice, kind, int(components or 1), name, section, encoding or "", int(length or 0))
        for lattice, kind, components, name, section, encoding, length in re.findall(form, header, re.M)
    ]


def unpack_runs(packed: bytes, needed: int, path: Path) -> bytearray:
    """HxByteRLE: n < 128: the next byte n times; n > 128: the next n - 128 bytes as they are."""
    require(needed <= 64 * len(packed) + 64, f"{path}: ends early: {len(packed)} bytes of runs cannot hold {needed} voxels")
    out, at = bytearray(), 0
    while at < len(packed) and len(out) <= needed:
        count = packed[at]
        if count > 128:
            out += packed[at + 1 : at + count - 127]
            at += count - 127
        elif 0 < count < 128:
            out += packed[at + 1 : at + 2] * count
            at += 2
        else:
            raise KarstError(f"{path}: its run-length code is damaged at byte {at} of {len(packed)}")
    require(len(out) == needed and at == len(packed), f"{path}: its run-length code gives {len(out)} bytes, its size needs {needed}")
    return out


def unpack_zip(packed: bytes, needed: int, path: Path) -> bytes:
    require(needed <= 1032 * len(packed) + 1032, f"{path}: ends early: {needed} bytes of voxels do not fit into {len(packed)} compressed bytes")
    unpacker = zlib.decompressobj()
    try:
        out = unpacker.decompress(packed, needed + 1)
    except zlib.error as error:
        raise KarstError(f"{path}: its compressed voxels are damaged ({error})") from None
    require(
        len(out) == needed and unpacker.eof and not unpacker.unused_data,
        f"{path}: its compressed voxels give {len(out)} bytes or more, its size needs {needed}",
    )
    return out


def section_lengths(header: str, sizes: dict[str, tuple[int, ...]], path: Path) -> dict[str, int]:
    """Bytes of each binary section in the file, in order of their numbers."""
    lengths = {}
    for data in sorted(arrays(header), key=lambda d: int(d.section)):
        require(data.type in TYPES, f"{path}: its array {data.name} has the type {data.type}; those read are {', '.join(TYPES)}")
        require(data.lattice in sizes, f"{path}: its array {data.name} lies on {data.lattice}, which is not defined")
        n = 1
        for size in sizes[data.lattice]:
            n *= size
        lengths[data.section] = data.bytes if data.encoding else n * data.components * np.dtype(TYPES[data.type]).itemsize
    return lengths


def section(path: Path, start: int, wanted: str, lengths: dict[str, int]) -> tuple[int, bool]:
    """Where the bytes of a section begin, and whether it is the last. The sections in front of it have known lengths."""
    at, order = start, list(lengths)
    with open(path, "rb") as file:
        for number in order:
            file.seek(at)
            mark = re.match(rb"\s*@(\d+)[ \t]*\r?\n", file.read(64))
            require(
                mark and mark[1].decode() == number,
                f"{path}: its section @{number} does not begin at byte {at}: it is damaged, or another file is joined to it",
            )
            if number == wanted:
                return at + mark.end(), number == order[-1]
            at += mark.end() + lengths[number]
    raise KarstError(f"{path}: has no section @{wanted}")


def read_voxels(path: Path, header: str, start: int, data: Data, shape: tuple[int, ...]) -> np.ndarray:
    """Array [k, j, i]; of uncompressed voxels a map of the file."""
    order = "<" if "LITTLE-ENDIAN" in header.split("\n", 1)[0] else ">"
    kind = np.dtype(order + TYPES[data.type])
    count = int(np.prod(shape, dtype=object))
    size = path.stat().st_size
    if "ASCII" in header.split("\n", 1)[0]:
        require_bytes(path, size - start, 2 * count, "its text")
        words = path.read_bytes()[start:].decode("ascii", "replace").split()
        require(
            words and words[0] == f"@{data.section}" and len(words) == count + 1, f"{path}: its text has {len(words) - 1} numbers, its size needs {count}"
        )
        wide = np.array(words[1:], float if kind.kind == "f" else np.int64)
        require(
            kind.kind == "f" or (wide.min() >= np.iinfo(kind).min and wide.max() <= np.iinfo(kind).max), f"{path}: has numbers that are no {data.type}"
        )
        return wide.astype(kind).reshape(shape)
    lengths = section_lengths(header, lattices(header), path)
    at, last = section(path, start, data.section, lengths)
    length = lengths[data.section]
    require_bytes(path, size - at, length, f"its section @{data.section}")
    with open(path, "rb") as file:
        file.seek(at + length)
        behind = file.read(64)
    tail = rb"\s*\Z" if last else rb"\s*@\d+[ \t]*\r?\n"
    require(re.match(tail, behind), f"{path}: too long: its section @{data.section} has {length} bytes, other bytes follow it")
    if not data.encoding:
        return np.memmap(path, kind, "r", at, shape)
    with open(path, "rb") as file:
        file.seek(at)
        packed = file.read(length)
    unpack = {"HxByteRLE": unpack_runs, "HxZip": unpack_zip}.get(data.encoding)
    require(unpack, f"{path}: its voxels are encoded by {data.encoding}; HxByteRLE and HxZip are read: export it uncompressed")
    return np.frombuffer(unpack(packed, count * kind.itemsize, path), kind).reshape(shape)


def check_rotation(parameters: str, path: Path, notes: list[str]) -> None:
    """A rotation of the whole image does not change its voxels; anything else does."""
    matrix = numbers(parameters, "TransformationMatrix", 16, path)
    if matrix is None or np.allclose(np.reshape(matrix, (4, 4))[:3, :3], np.eye(3), atol=1e-6):
        return
    axes = np.reshape(matrix, (4, 4))[:3, :3]
    require(
        np.allclose(axes @ axes.T, np.eye(3), atol=1e-3),
        f"{path}: its TransformationMatrix scales or shears the voxels; apply it in Avizo (Apply Transform) and save the result",
    )
    notes.append("its rotation (TransformationMatrix) is ignored: x, y, z are the axes of the voxels")


def read_amira(path: Path, name: str | None) -> Image:
    header, start = header_of(path)
    sizes = lattices(header)
    on_lattice = {d.name: d for d in arrays(header) if len(sizes.get(d.lattice, ())) in (2, 3) and d.components == 1}
    require(on_lattice, f"{path}: has no array of one component on a lattice (define Lattice NX NY NZ); meshes, surfaces and colours are no images")
    for data in on_lattice.values():
        require(all(n > 0 for n in sizes[data.lattice]), f"{path}: its lattice is {sizes[data.lattice]}: all three must be at least 1")
    data = on_lattice[choose(path, name, {n: sizes[d.lattice][::-1] for n, d in on_lattice.items()})]
    require(data.type in TYPES, f"{path}: its array {data.name} has the type {data.type}; those read are {', '.join(TYPES)}")
    parameters = group(header, "Parameters") or ""
    kind = re.search(r'(?<!\w)CoordType\s+"([^"]*)"', parameters)
    require(not kind or kind[1] == "uniform", f"{path}: its coordinates are {kind[1] if kind else ''}; only uniform ones are read: resample it in Avizo")
    size = (*sizes[data.lattice], 1)[:3]
    image = Image(read_voxels(path, header, start, data, size[::-1]), "AmiraMesh" if "AmiraMesh" in header[:20] else "Avizo")
    check_rotation(parameters, path, image.notes)
    box = numbers(parameters, "BoundingBox", 6, path)
    if box is not None:
        unit = re.search(r'(?<!\w)Coordinates\s+"([^"]*)"', group(parameters, "Units") or group(parameters, "SpatialUnit") or "")
        edges = [box[2 * d + 1] - box[2 * d] for d in range(3)]
        known = [abs(edges[d]) / (size[d] - 1) for d in range(3) if size[d] > 1]  # the box ends at the centres of voxels
        require(known and all(width > 0 for width in known), f"{path}: its BoundingBox {box} gives voxels no width")
        set_widths(image, [abs(edges[d]) / (size[d] - 1) if size[d] > 1 else known[0] for d in range(3)], unit[1] if unit else "", "Units")
        if 1 in size and sum(n == 1 for n in size) < 3:
            image.notes.append("has one voxel along an axis, where its BoundingBox states no width: the first of the others is taken")
    materials = group(parameters, "Materials")
    if materials is not None or data.name.lower() == "labels":
        names = re.findall(r'(?:^|[\s}])"?([\w][\w .-]*?)"?\s*\{', materials or "")
        image.labels = "its values are labels" + (f" ({', '.join(f'{n} {m}' for n, m in enumerate(names[:20]))})" if names else "")
    return image

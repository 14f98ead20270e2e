# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles that yt opens: `python -m karst.yt out/plot.vtkhdf ...` adds the layout that yt.load reads.

Plotfiles hold their values in the layout of VTK. yt reads that of Chombo, a second copy of the values in the same file (decision 019),
which runs write with `output.yt = true`.
"""
from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

import h5py
import numpy as np

from karst.error import KarstError, guarded
from karst.plotfile import HIDDEN, Plotfile

CENTIMETRES = 100.0  # per metre: yt takes lengths of this format for centimetres
BOX = np.dtype([(f"{end}_{d}", np.int32) for end in ("lo", "hi") for d in "ijk"])
TRIPLE = np.dtype([(f"intvect{d}", np.int32) for d in "ijk"])


def has_yt(path: str | Path) -> bool:
    """Whether yt.load opens this plotfile."""
    with Plotfile(path), h5py.File(path, "r") as file:
        return "level_0" in file


def add_yt(path: str | Path) -> None:
    """Adds the layout that yt.load reads to a plotfile, whose size doubles; nothing changes where it has one.

    The file is replaced at the end, so that it is either the old or the complete new one. KarstError: not a plotfile, or one in parts."""
    if has_yt(path):
        return
    path = Path(path).resolve()
    with h5py.File(path, "r") as file:
        if int(file.attrs.get("parts", 0)) > 0:
            raise KarstError(f"{path}: its values are in {file.attrs['parts']} parts; run with `output.yt = true`, or with `output.files = 1`")
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(number)
    try:
        shutil.copyfile(path, name)
        shutil.copymode(path, name)
        with h5py.File(name, "r+") as file:
            _add(file)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _add(file: h5py.File) -> None:
    arrays = [array for array in file["VTKHDF/Level0/CellData"] if array != HIDDEN]
    n_levels = sum(name.startswith("Level") for name in file["VTKHDF"])
    columns = []  # (component, array, column)
    for array in arrays:
        held = file[f"VTKHDF/Level0/CellData/{array}"]
        columns += [(f"{array}_{'xyz'[c]}", array, c) for c in range(held.shape[1])] if held.ndim == 2 else [(array, array, None)]
    file.attrs["filetype"] = np.bytes_("VanillaAMRFileType")
    file.attrs.update({"num_levels": np.int32(n_levels), "max_level": np.int32(n_levels - 1), "num_components": np.int32(len(columns))})
    for n, (component, _, _) in enumerate(columns):
        file.attrs[f"component_{n}"] = np.bytes_(component)
    file.create_group("Chombo_global").attrs.update({"SpaceDim": np.int32(3), "testReal": 0.0})
    for level in range(n_levels):
        _add_level(file, level, columns)


def _add_level(file, level, columns):
    vtk = file[f"VTKHDF/Level{level}"]
    corners = vtk["AMRBox"][:]
    boxes = np.zeros(len(corners), BOX)
    for d, name in enumerate("ijk"):
        boxes[f"lo_{name}"], boxes[f"hi_{name}"] = corners[:, 2 * d], corners[:, 2 * d + 1]
    cells = np.prod(corners[:, 1::2] - corners[:, 0::2] + 1, axis=1, dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(cells)])
    domain = np.zeros((), BOX)
    for d, name in enumerate("ijk"):
        domain[f"hi_{name}"] = int(file.attrs["domain_cells"][d]) * 2**level - 1
    group = file.create_group(f"level_{level}")
    group.attrs.update({"dx": CENTIMETRES * float(vtk.attrs["Spacing"][0]), "dx_units": np.bytes_("cm"), "dt": 0.0, "time": float(file.attrs["time"]),
                        "ref_ratio": np.int32(2), "prob_domain": domain})
    group.attrs.update({f"is_periodic_{d}": np.int32(0) for d in range(3)})
    about = group.create_group("data_attributes")
    about.attrs.update({"comps": np.int32(len(columns)), "objectType": np.bytes_("FArrayBox")})
    about.attrs.update({name: np.zeros((), TRIPLE) for name in ("ghost", "outputGhost")})
    group["boxes"], group["Processors"] = boxes, np.zeros(len(boxes), np.int32)
    group["data:offsets=0"] = ends * len(columns)
    values = np.empty(int(ends[-1]) * len(columns), np.float32)
    for n, (_, array, column) in enumerate(columns):
        held = vtk[f"CellData/{array}"][:] if column is None else vtk[f"CellData/{array}"][:, column]
        for b, size in enumerate(cells):  # box after box, in a box component after component
            first = ends[b] * len(columns) + n * size
            values[first:first + size] = held[ends[b]:ends[b + 1]]
    chunk = min(len(values), 1 << 14)
    group.create_dataset("data:datatype=0", data=values, chunks=(chunk,), compression="gzip", compression_opts=1, shuffle=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m karst.yt", description="Adds the layout that yt.load reads to plotfiles.")
    parser.add_argument("plotfile", nargs="+", help="written by karst; each is replaced by one of twice its size")
    for path in parser.parse_args().plotfile:
        add_yt(path)


if __name__ == "__main__":
    guarded(main)

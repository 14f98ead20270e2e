# SPDX-License-Identifier: BSD-3-Clause
"""Writes the fields of a plotfile in formats of other programs; lengths in metres, values in SI units.

npy          dense arrays at the finest cell width, one file per field: scalars [k, j, i], z first, vectors [k, j, i, component]
             (x, y, z); 0 in cells without fluid except for geometry fields; units and cell width in PREFIX.json
vti          the same in one VTK image, solid cells flagged as hidden
stl ply vtp  the wall as triangles, normals into the fluid: where the field `distance` is zero or, in a plotfile without
             it, where half of a cell is fluid
streamlines  lines along the velocity as VTP, with `velocity` and `speed` along them; each begins at an equal fraction of the
             flow through the plane in the middle, across the mean flow
"""
from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from karst.error import KarstError, guarded, unknown
from karst.optional import needs
from karst.plotfile import Plotfile

FORMATS = ("npy", "vti", "stl", "ply", "vtp", "streamlines")


def vtk_data(what: str) -> ModuleType:
    """The module karst.vtk_data, or a KarstError where vtk is not installed. what: that needs it."""
    needs("vtkmodules.vtkCommonCore", what)
    return import_module("karst.vtk_data")


def read_pyvista(path: str, **_: Any) -> Any:
    """The reader of .vtkhdf for pyvista.read() (an entry point of this package): plotfiles as by Plotfile.to_pyvista(), others as PyVista does."""
    try:
        plot = Plotfile(path)
    except KarstError:
        return needs("pyvista", "pyvista.read()").HDFReader(path).read()
    with plot:
        return plot.to_pyvista()


def _write_npy(plot: Plotfile, fields: Sequence[str], prefix: str) -> list[str]:
    files = {field: f"{prefix}_{field}.npy" for field in fields}
    for field, file in files.items():
        np.save(file, np.nan_to_num(plot.uniform(field), nan=0.0))
    about = {"title": plot.title, "time_s": plot.time, "cell_width_m": plot.levels[-1].dx, "cells": plot.levels[-1].cells.tolist(), "origin_m": plot.origin.tolist(),
             "order": "array[k, j, i] of cells along z, y, x; vectors array[k, j, i, component]; cells: along x, y, z",
             "fields": {field: {"file": Path(file).name, "units": plot.unit(field)} for field, file in files.items()}}
    Path(f"{prefix}.json").write_text(json.dumps(about, indent=2) + "\n")
    return [*files.values(), f"{prefix}.json"]


def _write(writer: Any, file: str, data: Any) -> list[str]:
    writer.SetFileName(file)
    writer.SetInputData(data)
    if not writer.Write():
        raise KarstError(f"{file}: cannot be written")
    return [file]


def _write_wall(kind: str, surface: Any, prefix: str) -> list[str]:
    place, name = {"stl": ("IOGeometry", "vtkSTLWriter"), "ply": ("IOPLY", "vtkPLYWriter"), "vtp": ("IOXML", "vtkXMLPolyDataWriter")}[kind]
    writer = getattr(import_module(f"vtkmodules.vtk{place}"), name)()
    if kind != "vtp":
        writer.SetFileTypeToBinary()
    return _write(writer, f"{prefix}_wall.{kind}", surface)


def _write_format(plot: Plotfile, kind: str, prefix: str, fields: Sequence[str], velocity: str | None, lines: int) -> list[str]:
    if kind == "npy":
        return _write_npy(plot, fields, prefix)
    data = vtk_data(f"the format {kind}")
    if kind in ("stl", "ply", "vtp"):
        return _write_wall(kind, data.wall(plot), prefix)
    writers = import_module("vtkmodules.vtkIOXML")
    if kind == "vti":
        return _write(writers.vtkXMLImageDataWriter(), f"{prefix}.vti", data.image_of_cells(plot, fields))
    return _write(writers.vtkXMLPolyDataWriter(), f"{prefix}_streamlines.vtp", data.streamlines(plot, velocity, lines))


def export(plot: Plotfile, output: str | Path, formats: Sequence[str], fields: Sequence[str] | None = None, velocity: str | None = None,
           lines: int = 100) -> list[Path]:
    """See Plotfile.export()."""
    if not formats:
        raise KarstError(f"no format was given; there are: {', '.join(FORMATS)}")
    for kind in formats:
        if kind not in FORMATS:
            raise unknown("format", kind, FORMATS, "the export")
    if lines < 1:
        raise KarstError(f"{lines} streamlines: must be 1 or more")
    names = list(fields or plot.arrays)
    for field in names:
        plot.unit(field)  # an unknown one is an error before anything is written
    written = []
    try:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        for kind in dict.fromkeys(formats):
            written += _write_format(plot, kind, str(output), names, velocity, lines)
    except OSError as error:
        raise KarstError(f"{output}: cannot be written ({error.strerror})") from None
    return [Path(file) for file in written]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m karst.export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plotfile")
    parser.add_argument("--export", nargs="+", required=True, choices=FORMATS, metavar="FORMAT", help=f"one or more of: {' '.join(FORMATS)}")
    parser.add_argument("--fields", nargs="+", metavar="NAME", help="for npy and vti (default: all)")
    parser.add_argument("--velocity", metavar="NAME", help="vector that streamlines follow (default: the first with velocity in its name)")
    parser.add_argument("--lines", type=int, default=100, help="streamlines (default 100)")
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX", help="files are PREFIX_FIELD.npy, PREFIX.vti, PREFIX_wall.stl, PREFIX_streamlines.vtp ...")
    options = parser.parse_args()
    with Plotfile(options.plotfile) as plot:
        print(*export(plot, options.output, options.export, options.fields, options.velocity, options.lines), sep="\n")
    return 0


if __name__ == "__main__":
    guarded(main)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the fields of a plotfile in formats of other programs; lengths in metres, values in SI units.

npy          dense arrays at the finest cell width, one file per field: scalars [i, j, k], vectors [i, j, k, component]
             (x, y, z); 0 in cells without fluid except for geometry fields; units and cell width in PREFIX.json
vti          the same in one VTK image, solid cells flagged as hidden
stl ply vtp  the wall as triangles, normals into the fluid: where the field `distance` is zero or, in a plotfile without
             it, where half of a cell is fluid
streamlines  lines along the velocity as VTP, with `velocity` and `speed` along them; each begins at an equal fraction of the
             flow through the plane in the middle, across the mean flow
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOGeometry import vtkSTLWriter
from vtkmodules.vtkIOPLY import vtkPLYWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter, vtkXMLPolyDataWriter

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from karst.error import KarstError, guarded  # noqa: E402
from karst.plot.streamlines import add_array, seeds, trace, velocity_of  # noqa: E402
from karst.plot.surface import wall_surface, with_normals  # noqa: E402
from karst.plotfile import FRACTION, HIDDEN, Plotfile  # noqa: E402

FORMATS = ("npy", "vti", "stl", "ply", "vtp", "streamlines")
HIDDEN_CELL = 32  # vtkDataSetAttributes.HIDDENCELL


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plotfile")
    parser.add_argument("--export", nargs="+", required=True, choices=FORMATS, metavar="FORMAT", help=f"one or more of: {' '.join(FORMATS)}")
    parser.add_argument("--fields", nargs="+", metavar="NAME", help="for npy and vti (default: all)")
    parser.add_argument("--velocity", metavar="NAME", help="vector that streamlines follow (default: the first with velocity in its name)")
    parser.add_argument("--lines", type=int, default=100, help="streamlines (default 100)")
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX", help="files are PREFIX_FIELD.npy, PREFIX.vti, PREFIX_wall.stl, PREFIX_streamlines.vtp ...")
    return parser.parse_args()


def dense(plot, field):
    """At the finest cell width, [k, j, i] or [k, j, i, component]; 0 where there is no value."""
    return np.nan_to_num(plot.uniform(field), nan=0.0)


def write_npy(plot, fields, prefix):
    files = {}
    for field in fields:
        files[field] = f"{prefix}_{field}.npy"
        np.save(files[field], np.ascontiguousarray(np.swapaxes(dense(plot, field), 0, 2)))
    about = {"title": plot.title, "time_s": plot.time, "cell_width_m": plot.levels[-1].dx,
             "cells": plot.levels[-1].cells.tolist(), "order": "array[i, j, k] of cells along x, y, z; vectors array[i, j, k, component]",
             "fields": {field: {"file": Path(file).name, "units": plot.unit(field)} for field, file in files.items()}}
    Path(f"{prefix}.json").write_text(json.dumps(about, indent=2) + "\n")
    return [*files.values(), f"{prefix}.json"]


def add_about(data, plot, units):
    """Title, time [s] and units of the arrays as field data."""
    for name, value in {"title": plot.title, **{f"units_{field}": unit for field, unit in units.items()}}.items():
        text = vtkStringArray()
        text.SetName(name)
        text.InsertNextValue(value)
        data.GetFieldData().AddArray(text)
    time = numpy_to_vtk(np.array([plot.time]), deep=True)
    time.SetName("TimeValue")  # what readers of VTK take as the time
    data.GetFieldData().AddArray(time)


def image_of(plot):
    """An image of the finest cells."""
    level = plot.levels[-1]
    image = vtkImageData()
    image.SetSpacing(*[level.dx] * 3)
    image.SetDimensions(*[int(n) + 1 for n in level.cells])
    return image


def write(writer, file, data):
    writer.SetFileName(str(file))
    writer.SetInputData(data)
    if not writer.Write():
        raise KarstError(f"{file}: cannot be written")
    return [str(file)]


def write_vti(plot, fields, prefix):
    image = image_of(plot)
    for field in fields:
        add_array(image.GetCellData(), field, dense(plot, field))
    if FRACTION in plot.components:
        hidden = np.where(plot.uniform(FRACTION) > 0, 0, HIDDEN_CELL).astype(np.uint8)
        add_array(image.GetCellData(), HIDDEN, hidden)
    add_about(image, plot, {field: plot.unit(field) for field in fields})
    return write(vtkXMLImageDataWriter(), f"{prefix}.vti", image)


def wall(plot):
    """Triangles of the wall [m], with normals into the fluid."""
    if FRACTION not in plot.components:
        raise KarstError("the plotfile holds no `fraction`, so there is no wall; add it to output.plot")
    contour = wall_surface(plot.smooth_wall_field(), [plot.levels[-1].dx] * 3)
    if contour.GetNumberOfCells() == 0:
        raise KarstError("there is no wall to write: the domain is all fluid or all solid")
    surface = with_normals(contour)
    add_about(surface, plot, {})
    return surface


def streamlines(plot, name, wanted):
    """Lines followed both ways from the seeds; velocities are trilinear between centres and 0 in the solid."""
    name, velocity = velocity_of(plot, name)
    spacing = np.full(3, plot.levels[-1].dx)
    starts = seeds(velocity, spacing, wanted)
    if len(starts) == 0:
        raise KarstError("nothing flows through the middle plane, so no streamline begins")
    lines = trace(velocity, spacing, starts)
    add_about(lines, plot, {"velocity": plot.unit(f"{name}_x"), "speed": plot.unit(f"{name}_x")})
    return lines


def write_wall(kind, surface, prefix):
    writer = {"stl": vtkSTLWriter, "ply": vtkPLYWriter, "vtp": vtkXMLPolyDataWriter}[kind]()
    if kind != "vtp":
        writer.SetFileTypeToBinary()
    return write(writer, f"{prefix}_wall.{kind}", surface)


def main():
    args = arguments()
    if args.lines < 1:
        raise KarstError(f"--lines {args.lines}: must be 1 or more")
    prefix = args.output
    Path(prefix).parent.mkdir(parents=True, exist_ok=True)
    with Plotfile(args.plotfile) as plot:
        fields = args.fields or list(plot.arrays)
        for field in fields:
            plot.unit(field)  # an unknown one is an error before anything is written
        written = []
        surface = wall(plot) if {"stl", "ply", "vtp"} & set(args.export) else None
        for kind in dict.fromkeys(args.export):
            if kind == "npy":
                written += write_npy(plot, fields, prefix)
            elif kind == "vti":
                written += write_vti(plot, fields, prefix)
            elif kind == "streamlines":
                written += write(vtkXMLPolyDataWriter(), f"{prefix}_streamlines.vtp", streamlines(plot, args.velocity, args.lines))
            else:
                written += write_wall(kind, surface, prefix)
    print("\n".join(written))
    return 0


if __name__ == "__main__":
    guarded(main)

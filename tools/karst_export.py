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
from vtkmodules.vtkCommonCore import vtkPoints, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D, vtkPolyDataNormals
from vtkmodules.vtkFiltersFlowPaths import vtkStreamTracer
from vtkmodules.vtkIOGeometry import vtkSTLWriter
from vtkmodules.vtkIOPLY import vtkPLYWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter, vtkXMLPolyDataWriter

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from karst.error import KarstError, guarded  # noqa: E402
from karst.plotfile import FRACTION, HIDDEN, Plotfile  # noqa: E402

FORMATS = ("npy", "vti", "stl", "ply", "vtp", "streamlines")
STEP = 0.35  # [cells] of a streamline
STAGNANT = 1e-6  # of the largest speed: where lines end
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


def add_array(attributes, name, values):
    """Values [k, j, i] or [k, j, i, component] as a VTK array."""
    array = numpy_to_vtk(np.ascontiguousarray(values).reshape(-1, *values.shape[3:]), deep=True)
    array.SetName(name)
    attributes.AddArray(array)
    return array


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


def image_of(plot, at_centres):
    """An image of the finest cells: they are its cells, or their centres its points."""
    level = plot.levels[-1]
    image = vtkImageData()
    image.SetSpacing(*[level.dx] * 3)
    image.SetOrigin(*[0.5 * level.dx if at_centres else 0.0] * 3)
    image.SetDimensions(*[int(n) + (0 if at_centres else 1) for n in level.cells])
    return image


def write(writer, file, data):
    writer.SetFileName(str(file))
    writer.SetInputData(data)
    if not writer.Write():
        raise KarstError(f"{file}: cannot be written")
    return [str(file)]


def write_vti(plot, fields, prefix):
    image = image_of(plot, at_centres=False)
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
    image = image_of(plot, at_centres=True)
    image.GetPointData().SetScalars(add_array(image.GetPointData(), "solid", -plot.smooth_wall_field()))
    contour = vtkFlyingEdges3D()
    contour.SetInputData(image)
    contour.SetValue(0, 0.0)
    contour.ComputeNormalsOff()
    contour.ComputeScalarsOff()
    contour.Update()
    if contour.GetOutput().GetNumberOfCells() == 0:
        raise KarstError("there is no wall to write: the domain is all fluid or all solid")
    normals = vtkPolyDataNormals()
    normals.SetInputConnection(contour.GetOutputPort())
    normals.SplittingOff()
    normals.ConsistencyOff()
    normals.Update()
    surface = normals.GetOutput()
    add_about(surface, plot, {})
    return surface


def seeds(plot, velocity, wanted):
    """Points [m] in the middle plane across the mean flow, each at an equal share of the flow forward."""
    level = plot.levels[-1]
    axis = int(np.abs(velocity.reshape(-1, 3).mean(axis=0)).argmax())
    middle = int(level.cells[axis]) // 2
    plane = velocity[..., axis].take(middle, axis=2 - axis)
    flow = np.maximum(plane if plane.sum() >= 0 else -plane, 0.0).ravel().astype(float)
    total = np.cumsum(flow)
    if total[-1] <= 0.0:
        raise KarstError("nothing flows through the middle plane, so no streamline begins")
    cells = np.searchsorted(total, (np.arange(wanted) + 0.5) / wanted * total[-1])
    second, first = np.unravel_index(cells, plane.shape)
    n = np.arange(wanted)
    u, v = (d for d in range(3) if d != axis)
    points = np.empty((wanted, 3))
    points[:, axis] = middle + 0.5
    points[:, u] = first + np.mod(0.5 + 0.754877666 * n, 1.0)  # spreads points within a cell (Roberts 2018)
    points[:, v] = second + np.mod(0.5 + 0.569840291 * n, 1.0)
    return points * level.dx


def velocity_of(plot, name):
    vectors = [array for array in plot.arrays if "velocity" in array]
    name = name or (vectors[0] if vectors else None)
    if name is None or f"{name}_x" not in plot.components:
        raise KarstError(f"streamlines need a vector of the velocity; the plotfile has: {', '.join(plot.components)}")
    return name, np.stack([dense(plot, f"{name}_{d}") for d in "xyz"], axis=-1)


def streamlines(plot, name, wanted):
    """Lines followed both ways from the seeds; velocities are trilinear between centres and 0 in the solid."""
    name, velocity = velocity_of(plot, name)
    image = image_of(plot, at_centres=True)
    image.GetPointData().SetVectors(add_array(image.GetPointData(), "velocity", velocity))
    add_array(image.GetPointData(), "speed", np.linalg.norm(velocity, axis=-1))
    points = vtkPoints()
    points.SetData(numpy_to_vtk(seeds(plot, velocity, wanted), deep=True))
    begin = vtkPolyData()
    begin.SetPoints(points)
    tracer = vtkStreamTracer()
    tracer.SetInputData(image)
    tracer.SetSourceData(begin)
    tracer.SetIntegratorTypeToRungeKutta4()
    tracer.SetIntegrationDirectionToBoth()
    tracer.SetIntegrationStepUnit(vtkStreamTracer.CELL_LENGTH_UNIT)
    tracer.SetInitialIntegrationStep(STEP)
    tracer.SetMaximumPropagation(8.0 * float(plot.size.sum()))
    tracer.SetMaximumNumberOfSteps(int(8 / STEP * plot.levels[-1].cells.sum()))
    tracer.SetTerminalSpeed(STAGNANT * float(np.linalg.norm(velocity, axis=-1).max()))
    tracer.SetComputeVorticity(False)
    tracer.Update()
    lines = tracer.GetOutput()
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

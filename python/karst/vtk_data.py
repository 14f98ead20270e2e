# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles as data of VTK: images of cells, the wall as triangles, streamlines. Lengths in metres. Needs the package vtk."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D, vtkPolyDataNormals
from vtkmodules.vtkFiltersFlowPaths import vtkStreamTracer

from karst.error import KarstError
from karst.plotfile import FRACTION, HIDDEN, Plotfile

STEP = 0.35  # [cells] of a streamline
STAGNANT = 1e-6  # of the largest speed: where lines end
HIDDEN_CELL = 32  # vtkDataSetAttributes.HIDDENCELL


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


def image_of(plot, at_centres, number=-1):
    """An image of the cells of a level (default the finest): they are its cells, or their centres its points."""
    level = plot.levels[number]
    image = vtkImageData()
    image.SetSpacing(*[level.dx] * 3)
    image.SetOrigin(*[0.5 * level.dx if at_centres else 0.0] * 3)
    image.SetDimensions(*[int(n) + (0 if at_centres else 1) for n in level.cells])
    return image


def image_of_cells(plot: Plotfile, fields: Sequence[str] = (), level: int = -1) -> vtkImageData:
    """Fields (default: all) as an image of the cells of a level; values without fluid are 0, and cells without fluid are hidden."""
    names = list(fields or plot.arrays)
    units = {field: plot.unit(field) for field in names}  # an unknown one is an error before anything is read
    values = {field: plot.uniform(field, level) for field in names}
    image = image_of(plot, at_centres=False, number=level)
    for field in names:
        add_array(image.GetCellData(), field, np.nan_to_num(values[field], nan=0.0))
    if FRACTION in plot.components:
        hidden = np.where(plot.uniform(FRACTION, level) > 0, 0, HIDDEN_CELL).astype(np.uint8)
        add_array(image.GetCellData(), HIDDEN, hidden)
    add_about(image, plot, units)
    return image


def wall(plot: Plotfile) -> vtkPolyData:
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
    return name, np.nan_to_num(plot.uniform(name), nan=0.0)


def streamlines(plot: Plotfile, name: str | None, wanted: int) -> vtkPolyData:
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

# SPDX-License-Identifier: BSD-3-Clause
"""Streamlines through a velocity in cells of a uniform grid, by VTK."""
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData
from vtkmodules.vtkFiltersFlowPaths import vtkStreamTracer

from karst.error import KarstError

STEP = 0.35  # [cells] of a streamline
STAGNANT = 1e-6  # of the largest speed: where lines end


def add_array(attributes, name, values):
    """Values [k, j, i] or [k, j, i, component] as a VTK array."""
    array = numpy_to_vtk(np.ascontiguousarray(values).reshape(-1, *values.shape[3:]), deep=True)
    array.SetName(name)
    attributes.AddArray(array)
    return array


def image_of_centres(cells, spacing, first=0.5):
    """An image whose points are the centres of cells (counts and widths along x, y, z); first: coordinate of the first one in cells."""
    image = vtkImageData()
    image.SetSpacing(*(float(dx) for dx in spacing))
    image.SetOrigin(*(float(first * dx) for dx in spacing))
    image.SetDimensions(*(int(n) for n in cells))
    return image


def seeds(velocity, spacing, wanted):
    """Points [m] in the middle plane across the mean flow, each at an equal share of the flow forward; empty where nothing flows."""
    axis = int(np.abs(velocity.reshape(-1, 3).mean(axis=0)).argmax())
    middle = velocity.shape[2 - axis] // 2
    plane = velocity[..., axis].take(middle, axis=2 - axis)
    flow = np.maximum(plane if plane.sum() >= 0 else -plane, 0.0).ravel().astype(float)
    total = np.cumsum(flow)
    if total[-1] <= 0.0:
        return np.empty((0, 3))
    cells = np.searchsorted(total, (np.arange(wanted) + 0.5) / wanted * total[-1])
    second, first = np.unravel_index(cells, plane.shape)
    n = np.arange(wanted)
    u, v = (d for d in range(3) if d != axis)
    points = np.empty((wanted, 3))
    points[:, axis] = middle + 0.5
    points[:, u] = first + np.mod(0.5 + 0.754877666 * n, 1.0)  # spreads points within a cell (Roberts 2018)
    points[:, v] = second + np.mod(0.5 + 0.569840291 * n, 1.0)
    for d in range(3):
        if velocity.shape[2 - d] == 1:
            points[:, d] = 0.5  # a plane flow
    return points * spacing


def trace(velocity, spacing, starts, first=0.5):
    """Lines followed both ways from the starts [m], with `velocity` and `speed` along them, as vtkPolyData.

    velocity  [k, j, i, component] at the centres of cells, 0 in the solid; trilinear between them
    spacing   cell widths along x, y, z [m]
    first     coordinate of the first centre in cells
    """
    cells = np.array(velocity.shape[2::-1])
    image = image_of_centres(cells, spacing, first)
    image.GetPointData().SetVectors(add_array(image.GetPointData(), "velocity", velocity))
    add_array(image.GetPointData(), "speed", np.linalg.norm(velocity, axis=-1))
    points = vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(starts), deep=True))
    begin = vtkPolyData()
    begin.SetPoints(points)
    tracer = vtkStreamTracer()
    tracer.SetInputData(image)
    tracer.SetSourceData(begin)
    tracer.SetIntegratorTypeToRungeKutta4()
    tracer.SetIntegrationDirectionToBoth()
    tracer.SetIntegrationStepUnit(vtkStreamTracer.CELL_LENGTH_UNIT)
    tracer.SetInitialIntegrationStep(STEP)
    tracer.SetMaximumPropagation(8.0 * float((cells * spacing).sum()))
    tracer.SetMaximumNumberOfSteps(int(8 / STEP * cells.sum()))
    tracer.SetTerminalSpeed(STAGNANT * float(np.linalg.norm(velocity, axis=-1).max()))
    tracer.SetComputeVorticity(False)
    tracer.Update()
    return tracer.GetOutput()


def array_of(plot, field):
    """At the finest cell width, [k, j, i]; 0 where there is no value."""
    return np.nan_to_num(plot.uniform(field), nan=0.0)


def velocity_of(plot, name=None):
    """Name and values [k, j, i, component] of a velocity of a plotfile (default: the first). Raises KarstError."""
    vectors = [array for array in plot.arrays if "velocity" in array]
    name = name or (vectors[0] if vectors else None)
    if name is None or f"{name}_x" not in plot.components:
        raise KarstError(f"streamlines need a vector of the velocity; the plotfile has: {', '.join(plot.components)}")
    return name, np.stack([array_of(plot, f"{name}_{d}") for d in "xyz"], axis=-1)

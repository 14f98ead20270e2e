# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles as data of VTK: images of cells, the wall as triangles, streamlines. Lengths in metres. Needs the package vtk."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData

from karst.error import KarstError
from karst.plotfile import FRACTION, HIDDEN, Plotfile
from karst.streamlines import add_array, seeds, trace, velocity_of
from karst.surface import wall_surface, with_normals

HIDDEN_CELL = 32  # vtkDataSetAttributes.HIDDENCELL


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


def _image_of(plot, number):
    """An image whose cells are those of a level."""
    level = plot.levels[number]
    image = vtkImageData()
    image.SetSpacing(*[level.dx] * 3)
    image.SetOrigin(*map(float, plot.origin))
    image.SetDimensions(*[int(n) + 1 for n in level.cells])
    return image


def image_of_cells(plot: Plotfile, fields: Sequence[str] = (), level: int = -1) -> vtkImageData:
    """Fields (default: all) as an image of the cells of a level; values without fluid are 0, and cells without fluid are hidden."""
    names = list(fields or plot.arrays)
    units = {field: plot.unit(field) for field in names}  # an unknown one is an error before anything is read
    values = {field: plot.uniform(field, level) for field in names}
    image = _image_of(plot, level)
    for field in names:
        add_array(image.GetCellData(), field, np.nan_to_num(values[field], nan=0.0))
    if FRACTION in plot.components:
        hidden = np.where(plot.uniform(FRACTION, level) > 0, 0, HIDDEN_CELL).astype(np.uint8)
        add_array(image.GetCellData(), HIDDEN, hidden)
    add_about(image, plot, units)
    return image


def in_domain(data: vtkPolyData, plot: Plotfile) -> vtkPolyData:
    """Points counted from the low corner of the file, from that of the domain."""
    if plot.is_region and data.GetNumberOfPoints():
        points = vtk_to_numpy(data.GetPoints().GetData())
        data.GetPoints().SetData(numpy_to_vtk(points + plot.origin, deep=True))
    return data


def wall(plot: Plotfile) -> vtkPolyData:
    """Triangles of the wall [m], with normals into the fluid."""
    if FRACTION not in plot.components:
        raise KarstError("the plotfile holds no `fraction`, so there is no wall; add it to output.plot")
    contour = wall_surface(plot.smooth_wall_field(), [plot.levels[-1].dx] * 3)
    if contour.GetNumberOfCells() == 0:
        raise KarstError("there is no wall to write: the domain is all fluid or all solid")
    surface = in_domain(with_normals(contour), plot)
    add_about(surface, plot, {})
    return surface


def streamlines(plot: Plotfile, name: str | None, wanted: int) -> vtkPolyData:
    """Lines followed both ways from the seeds; velocities are trilinear between centres and 0 in the solid."""
    name, velocity = velocity_of(plot, name)
    spacing = plot.spacing
    starts = seeds(velocity, spacing, wanted)
    if len(starts) == 0:
        raise KarstError("nothing flows through the middle plane, so no streamline begins")
    lines = in_domain(trace(velocity, spacing, starts), plot)
    add_about(lines, plot, {"velocity": plot.unit(f"{name}_x"), "speed": plot.unit(f"{name}_x")})
    return lines

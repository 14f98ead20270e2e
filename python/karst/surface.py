# SPDX-License-Identifier: BSD-3-Clause
"""The wall as triangles, by VTK."""
import numpy as np
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D, vtkPolyDataNormals, vtkQuadricDecimation, vtkWindowedSincPolyDataFilter

from karst.streamlines import add_array, image_of_centres


def wall_surface(field, spacing, first=0.5):
    """Triangles [m] where a field, > 0 in the fluid, [k, j, i], is 0, as vtkPolyData; empty where there is no wall."""
    image = image_of_centres(field.shape[::-1], spacing, first)
    image.GetPointData().SetScalars(add_array(image.GetPointData(), "solid", -field))
    contour = vtkFlyingEdges3D()
    contour.SetInputData(image)
    contour.SetValue(0, 0.0)
    contour.ComputeNormalsOff()
    contour.ComputeScalarsOff()
    contour.Update()
    return contour.GetOutput()


def with_normals(surface):
    """The surface with normals into the fluid."""
    normals = vtkPolyDataNormals()
    normals.SetInputData(surface)
    normals.SplittingOff()
    normals.ConsistencyOff()
    normals.Update()
    return normals.GetOutput()


def smoothed(surface):
    """The surface without the stairs of a wall that is known by cells alone."""
    smooth = vtkWindowedSincPolyDataFilter()
    smooth.SetInputData(surface)
    smooth.SetNumberOfIterations(20)
    smooth.SetPassBand(0.1)
    smooth.NormalizeCoordinatesOn()
    smooth.BoundarySmoothingOff()
    smooth.Update()
    return smooth.GetOutput()


def simplified(surface, triangles):
    """The surface with about so many triangles, if it has more."""
    there = surface.GetNumberOfPolys()
    if there <= triangles:
        return surface
    simple = vtkQuadricDecimation()
    simple.SetInputData(surface)
    simple.SetTargetReduction(1.0 - triangles / there)
    simple.VolumePreservationOn()
    simple.Update()
    return simple.GetOutput()

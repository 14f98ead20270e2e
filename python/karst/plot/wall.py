# SPDX-License-Identifier: BSD-3-Clause
"""Draws the wall of a plotfile in three dimensions: solid in stone colours, cut open at the domain faces.

The wall is where the field `distance` is zero or, in a plotfile without it, where half of a cell is fluid. With --minerals
it has a colour for each mineral of the field `mineral`, with the names in the summary.json next to the plotfile. It needs no display, but
either libegl1 or libosmesa6.
"""
from __future__ import annotations

import argparse
import ctypes.util
import json
import os
from pathlib import Path

import numpy as np

from karst.error import KarstError
from karst.optional import needs
from karst.plotfile import Plotfile, doubled, length_unit

STONE, CUT, FRAME = "#d9c7a7", "#a5875f", "#3c3833"
MINERALS = ["#d9c7a7", "#c8553d", "#3d7ea6", "#7a9e45", "#8a5aa5", "#e0a526", "#4fb3a9", "#6b6b6b"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plotfile")
    parser.add_argument("--corner", type=float, default=0.5, help="part of each edge cut away at the near corner to look inside, 0 to 0.9 (default 0.5)")
    parser.add_argument("--max-cells", type=int, default=256, help="maximum number of cells drawn per direction; larger data are averaged (default 256)")
    parser.add_argument("--minerals", action="store_true", help="colour the wall by the field `mineral`")
    parser.add_argument("--size", type=int, default=1100, help="width and height of the picture in pixels (default 1100)")
    parser.add_argument("-o", "--output", required=True, help="picture to write (.png)")


def draw(options: argparse.Namespace) -> None:
    draw_wall(options.plotfile, options.output, corner=options.corner, max_cells=options.max_cells, minerals=options.minerals, size=options.size)


def renderer():
    """pyvista, or an error that says what is missing. Without EGL and OSMesa the renderer would crash, so this is checked first."""
    os.environ.pop("DISPLAY", None)
    if not (ctypes.util.find_library("EGL") or ctypes.util.find_library("OSMesa")):
        raise KarstError("no library for off-screen rendering found; install libegl1 or libosmesa6 (tools/install_dependencies.sh)")
    pyvista = needs("pyvista", "a picture of the wall")
    from vtkmodules.vtkCommonCore import vtkLogger
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)  # the search for a screen is expected to fail
    return pyvista


def averaged(field, limit):
    """The field on a grid of at most `limit` cells per direction."""
    factor = min(-(-max(field.shape) // limit), min(field.shape))
    part = field[tuple(slice(0, n // factor * factor) for n in field.shape)]
    nz, ny, nx = (n // factor for n in part.shape)
    return part.reshape(nz, factor, ny, factor, nx, factor).mean(axis=(1, 3, 5))


def solid_surface(pyvista, wall, corner):
    """Surface of the solid (wall: > 0 in fluid, [k, j, i]), closed at the domain faces and the cut-away corner; in cells."""
    solid = -np.clip(wall, -0.5, 0.5)
    nz, ny, nx = solid.shape
    if corner > 0:  # the corner x high, y low, z high is nearest to the camera
        cut = solid[nz - round(corner * nz):, :round(corner * ny), nx - round(corner * nx):]
        cut[...] = -0.5
    padded = np.pad(solid, 1, constant_values=-0.5)
    image = pyvista.ImageData(dimensions=padded.shape[::-1], origin=(-0.5, -0.5, -0.5))
    image.point_data["solid"] = padded.ravel()
    surface = image.contour([0.0], scalars="solid", method="flying_edges")
    if surface.n_points == 0:
        raise KarstError("there is no wall to draw: the domain is entirely fluid or entirely solid")
    return surface


def split_cuts(surface, size, corner):
    """Wall and cut faces as two surfaces; a cut face lies within a cell of a flat end."""
    centres = surface.cell_centers().points
    planes = [(d, end) for d in range(3) for end in (0.0, size[d])]
    near = np.zeros(len(centres), dtype=bool)
    for d, end in planes:
        near |= np.abs(centres[:, d] - end) < 0.51
    if corner > 0:
        inner = (size[0] - round(corner * size[0]), round(corner * size[1]), size[2] - round(corner * size[2]))
        beyond = (centres[:, 0] > inner[0] - 1, centres[:, 1] < inner[1] + 1, centres[:, 2] > inner[2] - 1)
        in_corner = beyond[0] & beyond[1] & beyond[2]
        for d in range(3):
            near |= in_corner & (np.abs(centres[:, d] - inner[d]) < 0.51)
    return surface.extract_cells(~near), surface.extract_cells(near)


def spread(minerals, times=3):
    """Numbers of minerals, extended to the cells next to those of the wall, [k, j, i], because the surface drawn may cross these."""
    out = np.pad(np.nan_to_num(minerals).astype(np.uint8), 1)
    for _ in range(times):
        grown = out.copy()
        for axis in range(3):
            for step in (1, -1):
                moved = np.roll(out, step, axis)
                grown = np.where(grown == 0, moved, grown)
        out = grown
    return out[1:-1, 1:-1, 1:-1]


def names_of_minerals(plotfile, n):
    """Names from the summary.json next to the plotfile, otherwise numbers."""
    try:
        names = [mineral["name"] for mineral in json.loads((Path(plotfile).parent / "summary.json").read_text())["minerals"]]
    except (OSError, ValueError, KeyError):
        names = []
    return [*names[:n], *(f"mineral {number + 1}" for number in range(len(names), n))]


def add_minerals(plotter, smooth, minerals, shape, plotfile):
    """A surface in the colours of the minerals; it lies in cells of a grid of this shape, [k, j, i]."""
    centres = smooth.cell_centers().points[:, ::-1]
    place = tuple(np.clip((centres[:, d] * minerals.shape[d] / shape[d]).astype(int), 0, minerals.shape[d] - 1) for d in range(3))
    number = minerals[place]
    legend = []
    for m, name in enumerate(names_of_minerals(plotfile, int(minerals.max()))):
        part = smooth.extract_cells(number == m + 1)
        colour = MINERALS[m % len(MINERALS)]
        legend.append([name, colour])
        if part.n_cells:
            plotter.add_mesh(part, color=colour, specular=0.15, specular_power=20, ambient=0.18)
    if np.any(number == 0):
        plotter.add_mesh(smooth.extract_cells(number == 0), color=MINERALS[-1], ambient=0.18)
    plotter.add_legend(legend, bcolor="white", face="rectangle", loc="upper left", size=(0.2, 0.035 * len(legend)))


def add_solid(plotter, wall, cuts, minerals, shape, plotfile):
    if wall.n_cells:
        smooth = wall.extract_surface(algorithm="dataset_surface").smooth_taubin(n_iter=30, pass_band=0.12)
        if minerals is not None:
            add_minerals(plotter, smooth, minerals, shape, plotfile)
        else:
            plotter.add_mesh(smooth, color=STONE, smooth_shading=True, specular=0.15, specular_power=20, ambient=0.18)
    if cuts.n_cells:
        plotter.add_mesh(cuts.extract_surface(algorithm="dataset_surface"), color=CUT, ambient=0.35, diffuse=0.7)


def add_view(pyvista, plotter, cells):
    """Edges of the domain, camera, lights and shadows in corners."""
    box = pyvista.Box(bounds=[x for n in cells for x in (0.0, float(n))])
    plotter.add_mesh(box, style="wireframe", color=FRAME, line_width=2)
    centre, reach = np.array(cells) / 2.0, float(max(cells))
    plotter.camera_position = [tuple(centre + reach * np.array([1.55, -2.0, 1.35])), tuple(centre), (0.0, 0.0, 1.0)]
    plotter.camera.view_angle = 37.0
    for place, intensity in (((2.0, -1.2, 3.0), 0.85), ((0.3, -3.0, 0.4), 0.35)):
        light = pyvista.Light(position=tuple(centre + reach * np.array(place)), focal_point=tuple(centre), intensity=intensity)
        plotter.add_light(light)
    plotter.enable_anti_aliasing("ssaa")
    plotter.enable_ssao(radius=reach / 12, kernel_size=32)


def add_axes(plotter, size):
    """Edges of the domain and its size as text."""
    factor, unit = length_unit(max(size))
    words = " x ".join(f"{edge * factor:.4g}" for edge in size)
    plotter.add_text(f"{words} {unit}", position="lower_left", font_size=11, color=FRAME)
    plotter.add_axes(color=FRAME, line_width=3, viewport=(0.84, 0.0, 1.0, 0.16))


def draw_wall(plotfile: str | Path, output: str | Path, *, corner: float = 0.5, max_cells: int = 256, minerals: bool = False,
              size: int = 1100) -> None:
    """Draws the wall as a picture of size x size pixels; corner: part of each edge cut away, 0 to 0.9. Raises KarstError."""
    if not 0.0 <= corner <= 0.9:
        raise KarstError(f"--corner {corner}: allowed are 0 to 0.9")
    pyvista = renderer()
    with Plotfile(plotfile) as plot:
        field = averaged(plot.smooth_wall_field(), max_cells)
        while 2 * max(field.shape) <= max_cells:  # sharper edges where the solid is cut
            for axis in range(3):
                field = doubled(field, axis) if field.shape[axis] > 1 else field.repeat(2, axis)
            field = 2 * field
        numbers = spread(plot.uniform("mineral")) if minerals else None
        edges = plot.size
    wall, cuts = split_cuts(solid_surface(pyvista, field, corner), field.shape[::-1], corner)
    plotter = pyvista.Plotter(off_screen=True, window_size=(size, size), lighting="none")
    plotter.set_background("white")
    add_solid(plotter, wall, cuts, numbers, field.shape, plotfile)
    add_view(pyvista, plotter, field.shape[::-1])
    add_axes(plotter, edges)
    try:
        plotter.screenshot(output)
    except (OSError, ValueError) as error:
        raise KarstError(f"{output}: the picture cannot be written ({error})") from None

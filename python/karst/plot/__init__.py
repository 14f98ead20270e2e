# SPDX-License-Identifier: BSD-3-Clause
"""Plots of results, in Python and as `python -m karst.plot slice | movie | wall | figure | view`. They need matplotlib, wall and view pyvista.

    from karst.plot import draw_slice, draw_wall, write_figure, write_movie, write_view
    draw_slice("out/refined/plot.vtkhdf", "slice.png", field="velocity", axis="y")
    draw_wall("out/refined/plot.vtkhdf", "wall.png")
    write_figure("out/refined/report.html", "streamlines.svg")
    write_view("out/refined")
    write_movie("out/tracer")
"""
from karst.plot.figure import write_figure
from karst.plot.movie import write_movie
from karst.plot.slice import draw_slice
from karst.plot.view import write_view
from karst.plot.wall import draw_wall

__all__ = ["draw_slice", "draw_wall", "write_figure", "write_movie", "write_view"]

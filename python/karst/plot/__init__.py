# SPDX-License-Identifier: BSD-3-Clause
"""Plots of results, in Python and as `python -m karst.plot slice | wall | figure`. They need matplotlib, the wall pyvista.

    from karst.plot import draw_slice, draw_wall, write_figure
    draw_slice("out/refined/plot.vtkhdf", "slice.png", field="velocity", axis="y")
    draw_wall("out/refined/plot.vtkhdf", "wall.png")
    write_figure("out/refined/report.html", "streamlines.svg")
"""
from karst.plot.figure import write_figure
from karst.plot.slice import draw_slice
from karst.plot.wall import draw_wall

__all__ = ["draw_slice", "draw_wall", "write_figure"]

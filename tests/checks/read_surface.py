#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""VTK reads wall.vtp as ParaView does: polygons with the areas of the walls, whose fluxes add up to the loss.

    read_surface.py KARST FOLDER
"""
import json
import subprocess
import sys
from pathlib import Path

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

DECK = """[[geometry.solid]]
shape = "sphere"
center = [0.5, 0.5, 0.5]
radius = 0.31
[grid]
cells = [16, 16, 16]
size = [1, 1, 1]
[transport]
mode = "steady"
diffusivity = 1
[[transport.component]]
name = "a"
inlet = 1
[[transport.wall]]
rate = 2
[output]
plot = []
"""


def main():
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "deck.toml").write_text(DECK)
    subprocess.run([sys.argv[1], "run", "deck.toml", "--out", "out", "--overwrite"], cwd=folder, check=True, capture_output=True)
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(folder / "out" / "wall.vtp"))
    reader.Update()
    size = vtkCellSizeFilter()
    size.SetInputData(reader.GetOutput())
    size.Update()
    cells = size.GetOutput().GetCellData()
    area, flux, at_wall = (vtk_to_numpy(cells.GetArray(name)).astype(float) for name in ("Area", "flux_a", "concentration_a"))
    wall = json.loads((folder / "out" / "summary.json").read_text())["transport"]["components"][0]["wall"]
    assert abs(area.sum() / wall["area_m2"] - 1) < 1e-4, (area.sum(), wall)
    assert abs((flux * area).sum() / wall["loss_C_m3_s"] - 1) < 1e-4, ((flux * area).sum(), wall)
    assert abs((at_wall * area).sum() / area.sum() / wall["concentration"] - 1) < 1e-4
    assert abs(flux / (2 * at_wall) - 1).max() < 1e-5  # the law
    print("passed: wall.vtp")


if __name__ == "__main__":
    main()

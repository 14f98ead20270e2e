# SPDX-License-Identifier: BSD-3-Clause
"""Karst from Python: decks, runs, images and results as arrays with units.

    deck = karst.read_deck("inputs/permeability/permeability.toml")
    results = karst.run(deck, out="out/mine", threads=4, grid={"cells": [32, 32, 32]})
    print(results.summary.permeability_m2)              # array (3, 3) [m2]
    with results.plotfile() as plot:
        velocity = plot.uniform("velocity")             # array [k, j, i, component] [m/s]
    history = results.table("history.csv")              # of a transient flow: history["time_s"], history.unit("time_s")

All errors are KarstErrors whose text says what to do. Needs NumPy and h5py; plots (`karst.plot`) need matplotlib, those of the wall
pyvista.
"""
from karst.deck import check, read_deck, to_toml, write_deck
from karst.error import KarstError, RunError
from karst.formats import read_image
from karst.geometry import Geometry
from karst.image import import_image, make_image
from karst.plotfile import Plotfile
from karst.program import find_program
from karst.progress import Progress, read_progress
from karst.results import Results
from karst.run import Run, run, start
from karst.series import Series
from karst.slices import Slice, Slices
from karst.study import Study, run_study
from karst.summary import Summary
from karst.table import Table

__version__ = "0.1.0"
__all__ = ["Geometry", "KarstError", "Plotfile", "Progress", "Results", "Run", "RunError", "Series", "Slice", "Slices", "Study", "Summary", "Table",
           "check", "find_program", "import_image", "make_image", "read_deck", "read_image", "read_progress", "run", "run_study", "start", "to_toml",
           "write_deck"]

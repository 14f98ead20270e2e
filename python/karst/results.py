# SPDX-License-Identifier: BSD-3-Clause
"""Results of a run."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from karst.deck import read_deck
from karst.error import KarstError
from karst.plotfile import Plotfile
from karst.series import Series
from karst.slices import Slices
from karst.summary import Summary
from karst.table import Table


class Results:
    """The output folder of a run.

        results = Results("out/tracer")
        results.summary                      Summary of summary.json
        results.files                        names of all files that the run wrote
        results.table("transport.csv")       Table
        results.plotfile()                   Plotfile of plot.vtkhdf, or another by name
        results.series()                     Series of all plotfiles
        results.slices("z")                  Slices of one name ([[output.slice]])
        results.deck                         the deck with all defaults
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.summary = Summary.read(self.folder)

    @property
    def files(self) -> list[str]:
        return list(self.summary.get("files", []))

    @property
    def warnings(self) -> list[str]:
        return list(self.summary.get("warnings", []))

    @property
    def deck(self) -> dict[str, Any]:
        return read_deck(self.folder / "deck.toml")

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            raise KarstError(f"{self.folder}: has no {name}; it has: {', '.join(self.files)}")
        return path

    def table(self, name: str) -> Table:
        return Table(self._file(name))

    def plotfile(self, name: str = "plot.vtkhdf") -> Plotfile:
        return Plotfile(self._file(name))

    def series(self) -> Series:
        return Series(self.folder)

    def slices(self, name: str) -> Slices:
        return Slices(self._file(f"slice_{name}.vti.series"))

    def __repr__(self) -> str:
        return f"{self.folder}: {self.summary.get('title', '')} ({self.summary.get('status', '')}): {', '.join(self.files)}"

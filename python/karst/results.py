# SPDX-License-Identifier: BSD-3-Clause
"""Results of a run."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from karst.deck import read_deck
from karst.error import UnknownName, did_you_mean, unknown
from karst.plotfile import Plotfile
from karst.series import Series
from karst.slices import Slices
from karst.summary import Summary
from karst.table import Table

if TYPE_CHECKING:
    import xarray


class Results:
    """The output folder of a run.

        results = Results("out/tracer")
        results.summary                      Summary of summary.json
        results.files                        names of all files that the run wrote
        results.table("transport.csv")       Table
        results.plotfile()                   Plotfile of plot.vtkhdf, or another by name
        results.series()                     Series of all plotfiles
        results.slices("z")                  Slices of one name ([[output.slice]])
        results.to_xarray("velocity")        fields as an xarray.Dataset, with a dimension time if there are several plotfiles
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
            raise UnknownName(f"{self.folder}: has no {name}{did_you_mean(name, self.files)}; it has: {', '.join(self.files)}")
        return path

    def table(self, name: str) -> Table:
        return Table(self._file(name))

    def plotfile(self, name: str = "plot.vtkhdf") -> Plotfile:
        return Plotfile(self._file(name))

    def series(self) -> Series:
        return Series(self.folder)

    def slices(self, name: str) -> Slices:
        names = [file.removeprefix("slice_").removesuffix(".vti.series") for file in self.files if file.endswith(".vti.series")]
        if name not in names:
            raise unknown("slice", name, names, str(self.folder))
        return Slices(self._file(f"slice_{name}.vti.series"))

    def to_xarray(self, *fields: str, level: int = -1, length: str = "m") -> "xarray.Dataset":
        """Fields (default: all) as an xarray.Dataset at the cell width of a level (default the finest), with a dimension time if the run wrote
        plotfiles at several times; length: unit of the coordinates. See Plotfile.to_xarray() and Series.to_xarray()."""
        if (self.folder / "output.vtkhdf.series").exists():
            return self.series().to_xarray(*fields, level=level, length=length)
        with self.plotfile() as plot:
            return plot.to_xarray(*fields, level=level, length=length)

    def __repr__(self) -> str:
        return f"{self.folder}: {self.summary.get('title', '')} ({self.summary.get('status', '')}): {', '.join(self.files)}"

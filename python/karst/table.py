# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a run: history.csv, transport.csv, profiles.csv, chemistry.csv, inertia.csv, dispersion.csv,
dynamic_permeability.csv, study.csv, and those of `karst speciate`."""
from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karst.error import KarstError, unknown
from karst.optional import needs
from karst.units import unit_of

if TYPE_CHECKING:
    import pandas

# Where names do not end in their unit: columns of concentrations, in the unit C in which the deck gives them.
OF_COMPONENTS = ("_outlet", "_mean", "_min", "_max")
NO_COMPONENTS = ("time_s", "pore_volumes", "position_m")


def _column(texts: list[str]) -> np.ndarray:
    """Numbers, NaN for empty entries; strings if one of them is not a number."""
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, dtype=str)


class Table(dict[str, np.ndarray]):
    """Columns by name, each an array (rows), with its unit; empty entries are NaN. A dictionary, so that pandas.DataFrame(table) has these
    columns.

        table = Table("out/tracer/transport.csv")
        table["pore_volumes"], table["tracer_outlet"]
        table.unit("time_s")                 "s"; "1" without unit, "C": that of concentrations in the deck
        table.rows(axis="x")                 the columns of the rows with these entries
        table.to_array("time_s", "dt_s")     array (rows, 2)
        table.to_pandas()                    pandas.DataFrame; its attrs["units"] has the units
    """

    def __init__(self, path: str | Path):
        try:
            with open(path, newline="", encoding="utf-8") as file:
                lines = list(csv.reader(file))
        except (OSError, ValueError, csv.Error) as error:
            raise KarstError(f"{path}: cannot be read as a table ({error}); give a CSV file that karst wrote") from None
        if not lines or not lines[0]:
            raise KarstError(f"{path}: is empty; give a CSV file that karst wrote")
        names, rows = lines[0], lines[1:]
        if rows and len(rows[-1]) < len(names):  # the run is at work and has not ended the line
            rows.pop()
        for number, row in enumerate(rows, 2):
            if len(row) != len(names):
                raise KarstError(f"{path}:{number}: has {len(row)} entries, its first line {len(names)}; the file is damaged")
        self.path = Path(path)
        super().__init__((name, _column([row[c] for row in rows])) for c, name in enumerate(names))

    def __missing__(self, name: str) -> np.ndarray:
        raise unknown("column", name, self, str(self.path))

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values())))

    def unit(self, name: str) -> str:
        self[name]
        if self.path.name == "profiles.csv" and name not in NO_COMPONENTS:
            return "C"
        if self.path.name == "transport.csv" and name.endswith(OF_COMPONENTS):
            return "C"
        return unit_of(name)

    @property
    def units(self) -> dict[str, str]:
        return {name: self.unit(name) for name in self}

    def rows(self, **entries: float | str) -> dict[str, np.ndarray]:
        """The columns, restricted to the rows with these entries: rows(axis="x")."""
        chosen = np.ones(self.n_rows, dtype=bool)
        for name, entry in entries.items():
            chosen &= self[name] == entry
        return {name: column[chosen] for name, column in self.items()}

    def to_array(self, *names: str) -> np.ndarray:
        """Columns of numbers as one array (rows, columns); without names all of them."""
        texts = [name for name in names or self if self[name].dtype.kind == "U"]
        if texts:
            raise KarstError(f"{self.path}: {', '.join(texts)} holds text; name the columns of numbers, or use to_pandas()")
        return np.stack([self[name] for name in names or self], axis=1)

    def to_pandas(self, index: str | None = None) -> "pandas.DataFrame":
        """The table as a DataFrame with the columns of the file; attrs["units"]: their units. index: a column that becomes the index."""
        frame = needs("pandas", "to_pandas()").DataFrame(dict(self))
        frame.attrs = {"units": self.units, "path": str(self.path)}
        if index is not None:
            self[index]
            frame = frame.set_index(index)
        return frame

    def __repr__(self) -> str:
        return f"{self.path}: {self.n_rows} rows of " + ", ".join(name if unit == "1" else f"{name} [{unit}]" for name, unit in self.units.items())

# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a run: history.csv, transport.csv, profiles.csv, chemistry.csv, inertia.csv, dispersion.csv,
dynamic_permeability.csv, and those of `karst speciate`."""
from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from karst.error import KarstError
from karst.units import unit_of

# Where names do not end in their unit: columns of concentrations, in the unit C in which the deck gives them.
OF_COMPONENTS = ("_outlet", "_mean", "_min", "_max")
NO_COMPONENTS = ("time_s", "pore_volumes", "position_m")


def _column(texts: list[str]) -> np.ndarray:
    """Numbers, NaN for empty entries; strings if one of them is not a number."""
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, dtype=str)


class Table(Mapping[str, np.ndarray]):
    """Columns by name, each an array (rows), with its unit; empty entries are NaN.

        table = Table("out/tracer/transport.csv")
        table["pore_volumes"], table["tracer_outlet"]
        table.unit("time_s")                 "s"; "1" without unit, "C": that of concentrations in the deck
        table.rows(axis="x")                 the columns of the rows with these entries
        table.to_array("time_s", "dt_s")     array (rows, 2)
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
        self._columns = {name: _column([row[c] for row in rows]) for c, name in enumerate(names)}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            raise KeyError(f"no column '{name}' in {self.path}; it has: {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self._columns.values())))

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
        return np.stack([self[name].astype(float) for name in names or self], axis=1)

    def __repr__(self) -> str:
        return f"{self.path}: {self.n_rows} rows of " + ", ".join(name if unit == "1" else f"{name} [{unit}]" for name, unit in self.units.items())

# SPDX-License-Identifier: BSD-3-Clause
"""summary.json of a run."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from karst.error import KarstError, UnknownName, did_you_mean
from karst.units import unit_of


def _is_numbers(values: list) -> bool:
    """Whether this is a list, or list of lists, that contains only numbers and null, and at least one number."""
    return bool(values) and all(_is_numbers(v) if isinstance(v, list) else v is None or (isinstance(v, (int, float)) and
                                not isinstance(v, bool)) for v in values)


def _is_even(values: list) -> bool:
    """Whether all lists inside this list have the same length."""
    inner = [len(v) if isinstance(v, list) else -1 for v in values]
    return len(set(inner)) <= 1 and all(_is_even(v) for v in values if isinstance(v, list))


def _value(value: Any, unit: str) -> Any:
    if isinstance(value, dict):
        return Summary(value, unit)
    if isinstance(value, list):
        if _is_numbers(value) and _is_even(value):
            return np.array(value, dtype=float)
        return [_value(v, unit) for v in value]
    return value


class Summary(Mapping[str, Any]):
    """The results of a run by name, as in summary.json; names end in their unit.

        summary = Summary.read("out/permeability")
        summary.permeability_m2           array (3, 3) [component, drive] [m2]; NaN where nothing was computed
        summary.flow[0].tortuosity        nested objects are Summaries, too, lists of them are lists
        summary.unit("permeability_m2")   "m2"
        summary.quantities()              every number and array with its place and unit
    """

    def __init__(self, values: dict[str, Any], unit: str = "1"):
        self._values, self._unit = values, unit  # unit: of all that does not end in another, such as "bytes" in `memory`

    @classmethod
    def read(cls, path: str | Path) -> "Summary":
        """From the file, or from the folder of a run. Raises KarstError if there is none, or if it is not a summary."""
        file = Path(path)
        if file.is_dir():
            file = file / "summary.json"
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise KarstError(f"{file}: cannot be read ({error.strerror}); give the folder of a finished run") from None
        except ValueError as error:
            raise KarstError(f"{file}: is not valid JSON ({error}); give the summary.json that karst wrote") from None
        if not isinstance(values, dict) or "karst" not in values:
            raise KarstError(f"{file}: is not a summary of a run (it has no entry \"karst\"); give the summary.json that karst wrote")
        return cls(values)

    def __getitem__(self, name: str) -> Any:
        try:
            return _value(self._values[name], self._unit_of(name))
        except KeyError:
            raise UnknownName(f"no result '{name}'{did_you_mean(name, self._values)}; there are: {', '.join(self._values)}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def unit(self, name: str) -> str:
        """Unit of a result by its name, "1" if dimensionless."""
        self[name]
        return self._unit_of(name)

    def _unit_of(self, name: str) -> str:
        return self._unit if unit_of(name) == "1" else unit_of(name)

    def quantities(self, place: str = "") -> Iterator[tuple[str, Any, str]]:
        """(place, value, unit) of every number and array, such as ("flow[0].tortuosity", 1.17, "1")."""
        for name in self:
            yield from _quantities(self[name], f"{place}{name}", self._unit_of(name))

    def __repr__(self) -> str:
        lines = []
        for place, value, unit in self.quantities():
            shown = f"{value:.6g}" if isinstance(value, float) else f"array {value.shape}" if np.size(value) > 9 else f"{value}".replace("\n", "")
            lines.append(f"{place} = {shown}" + ("" if unit == "1" else f" {unit}"))
        return "\n".join(lines)


def _quantities(value: Any, place: str, unit: str) -> Iterator[tuple[str, Any, str]]:
    if isinstance(value, Summary):
        yield from value.quantities(f"{place}.")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _quantities(item, f"{place}[{number}]", unit)
    elif isinstance(value, (int, float, np.ndarray)) and not isinstance(value, bool):
        yield place, value, unit

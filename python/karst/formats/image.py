# SPDX-License-Identifier: BSD-3-Clause
"""What the readers of this folder return, and what they have in common: units, axes, choice of an array by name."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

from karst.error import KarstError

METRES = {
    "m": 1.0,
    "meter": 1.0,
    "metre": 1.0,
    "cm": 1e-2,
    "centimeter": 1e-2,
    "centimetre": 1e-2,
    "mm": 1e-3,
    "millimeter": 1e-3,
    "millimetre": 1e-3,
    "um": 1e-6,
    "µm": 1e-6,
    "μm": 1e-6,
    "micron": 1e-6,
    "micrometer": 1e-6,
    "micrometre": 1e-6,
    "nm": 1e-9,
    "nanometer": 1e-9,
    "nanometre": 1e-9,
    "pm": 1e-12,
    "picometer": 1e-12,
    "picometre": 1e-12,
    "å": 1e-10,
    "angstrom": 1e-10,
    "in": 0.0254,
    "inch": 0.0254,
}


@dataclass
class Image:
    """An image as its file has it.

    values   array [k, j, i] (x last), or what gives planes of it: values[k]
    format   such as "AmiraMesh"
    widths   of the voxels along x, y, z in `unit`; None if the file does not state them
    unit     [m]; None if the file does not name one: the widths are ratios
    notes    what the owner of the file may not expect, a sentence each
    note     why the widths cannot be used
    labels   why the values are labels and not gray values; empty if they may be either
    black    the value that stands for black where 0 is white
    """

    values: Any
    format: str
    widths: tuple[float, float, float] | None = None
    unit: float | None = None
    notes: list[str] = field(default_factory=list)
    note: str = ""
    labels: str = ""
    black: float | None = None


def metres(unit: str) -> float | None:
    """A unit of length [m], also in the plural; None if it is unknown."""
    name = unit.strip().lower().strip("[]").replace("_", "")
    return METRES.get(name) or METRES.get(name.removesuffix("s")) or METRES.get(name.removesuffix("es"))


def set_widths(image: Image, widths: Sequence[float], unit: str, where: str) -> None:
    """Widths along x, y, z with a unit as text; an unknown unit leaves the ratios."""
    image.widths = (float(widths[0]), float(widths[1]), float(widths[2]))
    image.unit = metres(unit)
    if unit.strip() and image.unit is None:
        image.notes.append(f'its unit "{unit}" ({where}) is unknown')


def require(condition: Any, message: str) -> None:
    if not condition:
        raise KarstError(message)


def require_bytes(path: Path, found: int, needed: int, what: str) -> None:
    """The bytes of the voxels are compared before memory is taken for them."""
    require(found >= needed, f"{path}: ends early: {what} needs {needed} bytes, the file has {found}")


def size_text(shape: Sequence[int]) -> str:
    return " x ".join(str(n) for n in shape)


def choose(path: Path, name: str | None, arrays: dict[str, Sequence[int]]) -> str:
    """The array of this name, or the only one of three axes, or else the only one of two.
    arrays   name: its size, for the message"""
    listed = ", ".join(f"{array} ({size_text(size)})" for array, size in list(arrays.items())[:20]) or "none"
    if name is not None:
        require(name in arrays, f"{path}: has no array {name}; it has {listed}")
        return name
    for rank in (3, 2):
        fitting = [array for array, size in arrays.items() if len(size) == rank and max(size) > 1]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            break
    example = next(iter(arrays), "NAME")
    raise KarstError(f"{path}: state which array is the image, for example {path}:{example}; the file has {listed}")


def axis_named(name: str) -> str | None:
    """x, y or z if the name of an axis says so: x, xdim, tomo_xdim, x_axis, nx."""
    words = name.lower().replace("-", "_").split("_")
    for word in reversed(words):
        for axis in "xyz":
            if word in (axis, axis + "dim", "dim" + axis, "n" + axis, axis + "axis", axis + "size", axis + "pos"):
                return axis
    return None


def in_order(path: Path, values: Any, names: Sequence[str], notes: list[str]) -> Any:
    """Axes in the order z, y, x, by their names if these say which they are; otherwise the last is taken as x."""
    axes = [axis_named(name) for name in names]
    usual = ["z", "y", "x"][3 - len(axes) :]
    if axes == usual or not any(axes):
        return values
    if len(axes) == 2 or None in axes or len(set(axes)) < 3:
        fits = all(axis in (None, expected) for axis, expected in zip(axes, usual))
        require(fits, f"{path}: its axes are called {', '.join(names)}: which of them is x, which y and which z is unclear; save the array as (z, y, x)")
        return values
    notes.append(f"its axes are called {', '.join(names)}: they were put into the order z, y, x")
    return np.transpose(np.asarray(values), [axes.index(axis) for axis in usual])


def uniform_step(positions: np.ndarray) -> float | None:
    """Distance between positions; None unless it is the same everywhere, to 0.1 %."""
    if positions.ndim != 1 or positions.size < 2:
        return None
    steps = np.diff(positions.astype(float))
    step = float((positions[-1] - positions[0]) / (positions.size - 1))
    return step if step != 0 and np.isfinite(step) and np.all(np.abs(steps - step) <= 1e-3 * abs(step)) else None


Reader = Callable[[Path, Optional[str]], Image]

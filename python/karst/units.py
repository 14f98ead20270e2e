# SPDX-License-Identifier: BSD-3-Clause
"""Units as they stand at the end of names in summary.json and in tables: permeability_m2, darcy_velocity_m_s; lengths, axes and places."""
from __future__ import annotations

import re

from karst.error import KarstError

UNITS = {
    "_per_m": "1/m", "_C_m3_s": "C m3/s", "_mol_m2_s": "mol/m2/s", "_mol_kgw": "mol/kgw", "_Pa_m": "Pa/m", "_J_m3": "J/m3", "_W_m3": "W/m3",
    "_mol_s": "mol/s", "_m3_s": "m3/s", "_m2_s": "m2/s", "_m_s": "m/s", "_mol": "mol", "_m3": "m3", "_m2": "m2", "_m": "m", "_s": "s",
    "_Hz": "Hz", "_Pa": "Pa", "_N": "N", "_darcy": "darcy", "_bytes": "bytes", "_seconds": "s",
}
WHOLE = {"seconds": "s", "bytes": "bytes", "memory": "bytes"}  # names of groups in which all entries have this unit
ANGLES = "degrees"
LENGTHS = {"nm": 1e-9, "um": 1e-6, "µm": 1e-6, "μm": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0}


def unit_of(name: str) -> str:
    """Unit of a quantity by its name, "1" if dimensionless. C is the unit of concentrations in the deck.

    >>> unit_of("darcy_velocity_m_s"), unit_of("porosity"), unit_of("specific_surface_per_m")
    ('m/s', '1', '1/m')
    """
    if name in WHOLE:
        return WHOLE[name]
    name = re.sub(r"(\[\d+\])+$", "", name)  # of an entry of an array: permeability_m2[0][0]
    if name.startswith(f"{ANGLES}_"):
        return ANGLES
    return next((unit for end, unit in UNITS.items() if name.endswith(end)), "1")


def axis_number(axis: int | str) -> int:
    """0, 1 or 2 of an axis given as a number or as "x", "y", "z"."""
    if isinstance(axis, str) and axis in ("x", "y", "z"):
        return "xyz".index(axis)
    if not isinstance(axis, (bool, str)) and axis in (0, 1, 2):
        return int(axis)
    raise KarstError(f"axis = {axis!r}: must be 0, 1, 2 or \"x\", \"y\", \"z\"")


def length_of(unit: str) -> float:
    """A unit of length in metres."""
    if unit not in LENGTHS:
        raise KarstError(f"{unit!r}: is not a unit of length; there are nm, um (or µm), mm, cm and m")
    return LENGTHS[unit]


def metres(length: str) -> float:
    """A length with a unit as metres.

    >>> metres("0.5 mm"), metres("20um")
    (0.0005, 2e-05)
    """
    found = re.fullmatch(r"\s*([-+.\deE]+)\s*(\w+)\s*", length)
    try:
        if found and found[2] in LENGTHS:
            return float(f"{float(found[1]) * LENGTHS[found[2]]:.15g}")
    except ValueError:
        pass
    raise KarstError(f"{length!r}: is not a length; write a number and one of the units nm, um, mm, cm, m, such as \"0.5 mm\"")


def fraction_of(at: float | str, size: float, cells: int, low: float = 0.0) -> float:
    """A place along an axis as a fraction of what goes from `low` for this size [m]: `at` is that fraction, or a text with a unit. A fraction
    below 0.01 within the first of the cells is an error, because it is a place in metres without its unit.

    >>> fraction_of(0.25, 1e-3, 100), fraction_of("0.25 mm", 1e-3, 100), fraction_of("0.75 mm", 1e-3, 100, 5e-4)
    (0.25, 0.25, 0.25)
    """
    if isinstance(at, str):
        place = metres(at)
        if not low <= place <= low + size:
            raise KarstError(f"at = {at!r}: the file goes from {low:.6g} to {low + size:.6g} m along this axis")
        return (place - low) / size
    if not 0 <= at <= 1:
        raise KarstError(f"at = {at}: a number is a fraction of the domain, 0 to 1; write a place as a text with its unit, such as \"0.2 mm\"")
    if 0 < at < min(0.01, 1 / cells):
        raise KarstError(f"at = {at}: a number is a fraction of the domain, and this one is in the first cell, which is at=0; write a place as a "
                         f"text with its unit: at=\"{at} m\"")
    return float(at)

# SPDX-License-Identifier: BSD-3-Clause
"""Units as they stand at the end of names in summary.json and in tables: permeability_m2, darcy_velocity_m_s."""

UNITS = {
    "_per_m": "1/m", "_C_m3_s": "C m3/s", "_mol_m2_s": "mol/m2/s", "_mol_kgw": "mol/kgw", "_Pa_m": "Pa/m", "_J_m3": "J/m3", "_W_m3": "W/m3",
    "_mol_s": "mol/s", "_m3_s": "m3/s", "_m2_s": "m2/s", "_m_s": "m/s", "_mol": "mol", "_m3": "m3", "_m2": "m2", "_m": "m", "_s": "s",
    "_Hz": "Hz", "_Pa": "Pa", "_N": "N", "_darcy": "darcy", "_bytes": "bytes", "_seconds": "s",
}
WHOLE = {"seconds": "s", "bytes": "bytes"}  # names of groups in which all entries have this unit
ANGLES = "degrees"


def unit_of(name: str) -> str:
    """Unit of a quantity by its name, "1" if dimensionless. C is the unit of concentrations in the deck.

    >>> unit_of("darcy_velocity_m_s"), unit_of("porosity"), unit_of("specific_surface_per_m")
    ('m/s', '1', '1/m')
    """
    if name in WHOLE:
        return WHOLE[name]
    if name.startswith(f"{ANGLES}_"):
        return ANGLES
    return next((unit for end, unit in UNITS.items() if name.endswith(end)), "1")

# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only parts of this one need."""
from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from karst.error import KarstError


def needs(package: str, what: str) -> ModuleType:
    """The module of an optional package, or a KarstError that says how to install it. what: that needs it."""
    try:
        return import_module(package)
    except ImportError as error:
        first = package.split(".")[0]
        first = "vtk" if first == "vtkmodules" else first
        raise KarstError(f"{what} needs the package {first}, which cannot be loaded ({error}); install it with: "
                         f"{sys.executable} -m pip install {first}") from None

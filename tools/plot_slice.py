#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python -m karst.plot slice"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from karst.plot.__main__ import tool  # noqa: E402

tool("slice")

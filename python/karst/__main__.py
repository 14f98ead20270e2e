# SPDX-License-Identifier: BSD-3-Clause
"""python -m karst run deck.toml: the program that the package uses, with the same arguments."""
from karst.error import guarded
from karst.program import main

if __name__ == "__main__":
    guarded(main)

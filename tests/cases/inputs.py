#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every deck in inputs/ passes `karst check`, and every folder there says in a README.md what it shows.

    inputs.py --program KARST --mpiexec MPIEXEC

Decks of an image are checked with a small stand-in for it.
"""
import argparse
import sys
import tempfile
from pathlib import Path

from support import Karst, contents, sphere_image

INPUTS = Path(__file__).resolve().parents[2] / "inputs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", required=True)
    options = parser.parse_args()
    karst = Karst(options.program, options.mpiexec)
    failed = [f"{f.name}: no README.md" for f in INPUTS.iterdir() if f.is_dir() and not (f / "README.md").exists()]
    decks = sorted(INPUTS.rglob("*.toml"))
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(place)
        (folder / "rock.raw").write_bytes(sphere_image(24, 9))
        made = karst.run(["import", "rock.raw", "-o", "rock.h5", "--size", "24,24,24", "--type", "uint8", "--voxel", "1e-6",
                          "--pore", "0"], folder)
        before = contents(folder)
        for deck in decks:
            image = [f"geometry.image={folder / 'rock.h5'}"] if "\nimage =" in deck.read_text() else []
            result = karst.run(["check", deck, *image], folder, threads=2)
            if result.status != 0 or contents(folder) != before:
                failed.append(f"{deck.relative_to(INPUTS)}: {result}")
            print("passed" if result.status == 0 else "FAILED", deck.relative_to(INPUTS))
        if made.status != 0:
            failed.append(str(made))
    print("\n".join(failed))
    return 1 if failed or not decks else 0


if __name__ == "__main__":
    sys.exit(main())

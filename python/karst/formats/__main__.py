# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m karst.formats IMAGE -o FILE: the image as HDF5, or what a compressed file holds. `karst import` calls it."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from karst.error import KarstError
from karst.formats import compression_of, missing, read_image, write_image
from karst.formats.packed import unpack


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m karst.formats", description="writes an image of another format as HDF5, for karst import")
    parser.add_argument("image", help="DICOM folder or file, Amira, legacy VTK, NetCDF, MATLAB, Zarr; FILE:ARRAY; or a file compressed by bzip2, xz, zstd")
    parser.add_argument("-o", "--output", required=True, type=Path, help="the HDF5 file to write; of a compressed file what it holds")
    words = parser.parse_args()
    try:
        packing = compression_of(Path(words.image))
        if packing:
            unpack(Path(words.image), packing, words.output)
        else:
            write_image(read_image(words.image), words.output, words.image)
    except ImportError as error:
        return fail(str(missing(words.image, error)))
    except (KarstError, OSError) as error:
        return fail(str(error))
    except MemoryError:
        return fail(f"{words.image}: does not fit into memory")
    except Exception as error:  # of a library, for a damaged file
        return fail(f"{words.image}: cannot be read ({type(error).__name__}: {str(error)[:200]})")
    return 0


def fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

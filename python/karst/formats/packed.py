# SPDX-License-Identifier: BSD-3-Clause
"""Files compressed as a whole by bzip2, xz or zstd: decompressed, whatever they hold."""
import bz2
import lzma
from pathlib import Path
from typing import Any

from karst.error import KarstError

BLOCK = 1 << 20


def opened(path: Path, kind: str) -> Any:
    if kind == "bzip2":
        return bz2.open(path)
    if kind == "xz":
        return lzma.open(path)
    import zstandard
    return zstandard.open(path)


def unpack(path: Path, kind: str, output: Path) -> None:
    """Writes what is in it; at most as much as the disk has free."""
    try:
        with opened(path, kind) as packed, open(output, "wb") as file:
            while block := packed.read(BLOCK):
                file.write(block)
    except ImportError:
        raise
    except Exception as error:
        output.unlink(missing_ok=True)
        raise KarstError(f"{path}: ends early or is damaged: it cannot be decompressed ({kind}: {error or type(error).__name__})") from None

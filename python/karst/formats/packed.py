# SPDX-License-Identifier: BSD-3-Clause
"""Files compressed as a whole by bzip2, xz or zstd: decompressed, whatever they hold."""
from __future__ import annotations

import bz2
import lzma
from collections.abc import Iterator
from pathlib import Path

from karst.error import KarstError

BLOCK = 1 << 20


def zstd_blocks(path: Path) -> Iterator[bytes]:
    """Frame after frame; the stream of zstandard itself takes the end of the file for the end of a frame."""
    import zstandard

    frame = None
    with open(path, "rb") as file:
        while packed := file.read(BLOCK):
            while packed:
                frame = zstandard.ZstdDecompressor().decompressobj() if frame is None or frame.eof else frame
                yield frame.decompress(packed)
                packed = frame.unused_data if frame.eof else b""
    if frame is None or not frame.eof:
        raise EOFError("the file ends within a frame")


def blocks(path: Path, kind: str) -> Iterator[bytes]:
    if kind == "zstd":
        yield from zstd_blocks(path)
        return
    with bz2.open(path) if kind == "bzip2" else lzma.open(path) as packed:
        while block := packed.read(BLOCK):
            yield block


def unpack(path: Path, kind: str, output: Path) -> None:
    """Writes what is in it."""
    try:
        with open(output, "wb") as file:
            for block in blocks(path, kind):
                file.write(block)
    except ImportError:
        raise
    except Exception as error:
        output.unlink(missing_ok=True)
        raise KarstError(f"{path}: ends early or is damaged: it cannot be decompressed ({kind}: {error or type(error).__name__})") from None

# SPDX-License-Identifier: BSD-3-Clause
"""Decks: nested dictionaries here, TOML in files. docs/inputs.md and `karst help` explain their keys."""
from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from karst.error import KarstError, RunError
from karst.program import call, find_program

Deck = Mapping[str, Any]


def read_deck(path: str | Path) -> dict[str, Any]:
    """A deck as nested dictionaries. Raises KarstError if it cannot be read or is not valid TOML."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise KarstError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise KarstError(f"{path}: is not valid TOML: {error}") from None


def toml_value(value: Any, name: str = "") -> str:
    """A value as TOML: numbers, strings, paths, booleans and lists of these; NumPy arrays as lists."""
    if isinstance(value, np.ndarray) and value.ndim == 3:
        raise KarstError(f"{name}: an array of voxels cannot be in a deck; give it to karst.run(array, voxel=...) or karst.import_image()")
    if isinstance(value, np.ma.MaskedArray) and np.ma.count_masked(value):
        raise KarstError(f"{name}: some of its values are masked, so that they have none")
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, Path)):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)  # shortest exact form; inf and nan are valid TOML, but rejected by karst
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_value(item, name) for item in value) + "]"
    raise KarstError(f"{name}: a deck contains numbers, strings, booleans, lists and tables, not {type(value).__name__} ({value!r})")


def _is_tables(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _key(name: Any) -> str:
    return str(name) if re.fullmatch(r"[A-Za-z0-9_-]+", str(name)) else json.dumps(str(name))


def _lines(table: Deck, place: str) -> Iterator[str]:
    """Values first, then tables: in TOML all keys after the head of a table belong to it."""
    for name, value in table.items():
        if value is not None and not isinstance(value, Mapping) and not _is_tables(value):
            yield f"{_key(name)} = {toml_value(value, place + str(name))}"
    for name, value in table.items():
        full = place + _key(name)
        for item in value if _is_tables(value) else [value] if isinstance(value, Mapping) else []:
            yield ""
            yield f"[[{full}]]" if _is_tables(value) else f"[{full}]"
            yield from _lines(item, f"{full}.")


def to_toml(deck: Deck) -> str:
    """A deck as TOML; keys that are None are left out.

    >>> print(to_toml({"grid": {"cells": [8, 8, 8]}, "geometry": {"solid": [{"shape": "sphere", "radius": "0.4 mm"}]}}))
    <BLANKLINE>
    [grid]
    cells = [8, 8, 8]
    <BLANKLINE>
    [geometry]
    <BLANKLINE>
    [[geometry.solid]]
    shape = "sphere"
    radius = "0.4 mm"
    <BLANKLINE>
    """
    return "\n".join(_lines(deck, "")) + "\n"


def overrides(values: Deck, place: str = "") -> list[str]:
    """Arguments of the command line, key=value: {"grid": {"box": 8}} and {"grid.box": 8} both give grid.box=8. The tables of a list change
    those of the deck with the same number."""
    words = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            words += overrides(value, f"{place}{name}.")
        elif _is_tables(value):
            for number, item in enumerate(value):
                words += overrides(item, f"{place}{name}[{number}].")
        elif value is not None:
            words.append(f"{place}{name}={toml_value(value, place + name)}")
    return words


@contextmanager
def as_file(deck: Deck | str | Path) -> Iterator[str]:
    """A deck as a file: a dictionary is written to the working directory, because its file names are relative to it, and removed at the
    end; messages of the program refer to it as "deck"."""
    if not isinstance(deck, Mapping):
        yield os.fspath(deck)
        return
    text = to_toml(deck)
    try:
        handle, name = tempfile.mkstemp(prefix="deck-", suffix=".toml", dir=".", text=True)
    except OSError as error:
        raise KarstError(f"{os.getcwd()}: the deck cannot be written here ({error.strerror}); change to a writable folder") from None
    name = os.path.relpath(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        yield name
    except RunError as error:
        raise RunError(str(error).replace(name, "deck"), error.status, error.output) from None
    finally:
        os.unlink(name)


def check(deck: Deck | str | Path, *, program: str | Path | None = None, **changes: Any) -> str:
    """`karst check`: the resources that a run would need, as text. Raises RunError with all errors of the deck.

    deck     dictionary, or the path of a deck, image or geometry file
    changes  keys to set: grid={"box": 8}
    """
    with as_file(deck) as file:
        return call([str(program or find_program()), "check", file, *overrides(changes)])


def write_deck(deck: Deck, path: str | Path, *, check: bool = True, program: str | Path | None = None) -> Path:
    """Writes a deck as TOML. With check it must pass `karst check` (otherwise RunError, and the file is unchanged); file names in it are
    relative to its folder."""
    path = Path(path)
    trial = path.with_name(f".{path.name}.new")
    try:
        trial.write_text(to_toml(deck), encoding="utf-8")
        if check:
            call([str(program or find_program()), "check", str(trial)])
        trial.replace(path)
    except OSError as error:
        raise KarstError(f"{path}: cannot be written ({error.strerror})") from None
    except RunError as error:
        raise RunError(str(error).replace(str(trial), str(path)), error.status, error.output) from None
    finally:
        trial.unlink(missing_ok=True)
    return path

# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions of the package."""
from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable


class KarstError(Exception):
    """An invalid file, deck or argument; the text says what is wrong, where, and what to do."""


class UnknownName(KarstError, KeyError, AttributeError):
    """A field, column, result or file that does not exist; the text names the nearest ones and all that exist."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownNumber(KarstError, IndexError):
    """A number of a plotfile, slice or case that does not exist."""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to six names that may be meant: those that end in this one, contain it as whole words, or are spelled like it.

    >>> nearest("velocity", ["pressure", "drive_x_velocity", "drive_y_velocity"]), nearest("presure", ["pressure", "speed"])
    (['drive_x_velocity', 'drive_y_velocity'], ['pressure'])
    """
    names = list(dict.fromkeys(known))
    ending = [other for other in names if other.endswith(f"_{name}")]
    containing = [other for other in names if f"_{name}_" in f"_{other}_"]
    return (ending or containing)[:6] or difflib.get_close_matches(name, names, 3, 0.6)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ (did you mean 'pressure'?), or nothing if no name is near."""
    near = [f"'{other}'" for other in nearest(name, known)]
    return f" (did you mean {', '.join(near[:-1])}{' or ' if near[1:] else ''}{near[-1]}?)" if near else ""


def unknown(what: str, name: str, known: Iterable[str], place: str = "", also: Iterable[str] = ()) -> UnknownName:
    """The error "no WHAT 'NAME' in PLACE (did you mean ...?); it has: ...". also: names that are valid but not listed."""
    names = list(known)
    return UnknownName(f"no {what} '{name}'{f' in {place}' if place else ''}{did_you_mean(name, [*names, *also])}; it has: {', '.join(names) or 'none'}")


class RunError(KarstError):
    """A program of Karst failed; the text is its error message.

    status  its exit status; 124, 130, 138 and 143: the run was stopped in an orderly way and can be continued with resume=True
    output  its complete output
    """

    def __init__(self, message: str, status: int, output: str):
        super().__init__(message)
        self.status, self.output = status, output


def guarded(main: Callable[[], int | None]) -> None:
    """Runs the main function of a tool; a KarstError is printed as one line, with status 1."""
    try:
        sys.exit(main())
    except KarstError as error:
        sys.exit(f"error: {error}")

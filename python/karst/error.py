# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions of the package."""
from __future__ import annotations

import sys
from collections.abc import Callable


class KarstError(Exception):
    """An invalid file, deck or argument; the text says what is wrong, where, and what to do."""


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

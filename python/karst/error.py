# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong, in words for the user."""
import sys
from collections.abc import Callable


class KarstError(Exception):
    """A file, deck or argument that is wrong; the text says what, where, and what to do."""


class RunError(KarstError):
    """A program of Karst that ended with an error; the text is its own message.

    status  its exit status; 124, 130, 138 and 143: a run that ended in order, to go on with resume=True
    output  all that it printed
    """

    def __init__(self, message: str, status: int, output: str):
        super().__init__(message)
        self.status, self.output = status, output


def guarded(main: Callable[[], int | None]) -> None:
    """Runs the main function of a tool; a KarstError becomes one line and status 1."""
    try:
        sys.exit(main())
    except KarstError as error:
        sys.exit(f"error: {error}")

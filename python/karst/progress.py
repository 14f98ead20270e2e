# SPDX-License-Identifier: BSD-3-Clause
"""How far a run is: what `karst status` reads, and a line that shows it."""
from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LOCK = "karst.lock"  # in the folder of a run at work; its second line is the progress, as JSON
PAUSE = 0.5  # between changes of the line [s]


@dataclass(frozen=True)
class Progress:
    """fraction: 0 to 1, of the run; seconds_left: None while too little is done to tell; what: the part at work, such as "transport"; note:
    more about it."""

    fraction: float
    seconds_left: float | None
    what: str
    note: str

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", about {readable(self.seconds_left)} left"
        return f"{self.fraction:.0%}{left}: {self.what}{f'; {self.note}' if self.note else ''}"


def readable(seconds: float) -> str:
    """A time in the unit that fits.

    >>> readable(7.4), readable(200), readable(10000)
    ('7 s', '3 min', '2 h 47 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def read_progress(out: str | Path) -> Progress | None:
    """Progress of the run that works in a folder; None if it has not told any, or has ended."""
    try:
        said = json.loads((Path(out) / LOCK).read_text(encoding="utf-8").splitlines()[1])
        left = said["left_s"]
        return Progress(float(said["part"]), None if left is None else float(left), str(said["what"]), str(said["note"]))
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


def in_notebook() -> bool:
    """Whether this runs in a notebook (Jupyter, VS Code ...)."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class ProgressLine:
    """One line of the terminal or notebook that is written again and again."""

    def __init__(self, text: Callable[[], str]):
        self._text, self._last, self._begun, self._next = text, "", time.monotonic(), 0.0

    def _write(self, text: str, end: str = "") -> None:
        text = text[:max(shutil.get_terminal_size((120, 24)).columns - 1, 40)]
        if text != self._last:
            print(f"\r{text:<{len(self._last)}}", end=end, flush=True)
            self._last = text

    def show(self) -> None:
        """Updates the line, if it is due."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE
            self._write(self._text())

    def end(self, text: str) -> None:
        self._write(f"{text} after {readable(time.monotonic() - self._begun)}", "\n")

# SPDX-License-Identifier: BSD-3-Clause
"""Starts `karst run`, with or without waiting for it."""
from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from karst.deck import Deck, as_file, overrides
from karst.program import Process, find_program
from karst.results import Results


class Run:
    """A running simulation: is_running, output so far, stop() to request an orderly end, wait() for its Results."""

    def __init__(self, process: Process, out: Path, files: ExitStack):
        self._process, self._out, self._files = process, out, files

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    @property
    def output(self) -> str:
        return self._process.output

    def stop(self) -> None:
        self._process.stop()

    def wait(self) -> Results:
        """Waits for the Results. Raises RunError with the program's message if the run fails."""
        with self._files:
            self._process.wait()
        return Results(self._out)


def start(deck: Deck | str | Path, out: str | Path, *, threads: int | None = None, ranks: int = 1, overwrite: bool = False,
          resume: bool = False, echo: bool = False, program: str | Path | None = None, **changes: Any) -> Run:
    """Starts a run without waiting for it; see run()."""
    files = ExitStack()
    try:
        file = files.enter_context(as_file(deck))
        words = [str(program or find_program()), "run", file, "--out", str(out), *overrides(changes)]
        words += [] if threads is None else ["--threads", str(threads)]
        words += ["--overwrite"] if overwrite else []
        words += ["--resume"] if resume else []
        return Run(Process(words, ranks, echo), Path(out), files)
    except BaseException:
        files.close()
        raise


def run(deck: Deck | str | Path, out: str | Path, *, threads: int | None = None, ranks: int = 1, overwrite: bool = False,
        resume: bool = False, echo: bool = False, program: str | Path | None = None, **changes: Any) -> Results:
    """Runs a deck and returns its Results. Raises RunError with the program's message if it fails; after a KeyboardInterrupt the run ends
    in an orderly way, so that resume=True continues it.

    deck       dictionary (file names in it are relative to the working directory), or the path of a deck, image or
               geometry file
    out        folder of the results; it may contain earlier ones only with overwrite or resume
    threads    per rank; None: OMP_NUM_THREADS, else all processors
    ranks      more than 1: under mpirun
    echo       print the output of the program while it runs
    program    path of karst; None: find_program()
    changes    keys of the deck to set: flow={"axes": ["x"]}, fluid={"viscosity": "1.2 cP"}, **{"grid.box": 8}
    """
    return start(deck, out, threads=threads, ranks=ranks, overwrite=overwrite, resume=resume, echo=echo, program=program, **changes).wait()

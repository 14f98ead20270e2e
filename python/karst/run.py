# SPDX-License-Identifier: BSD-3-Clause
"""Starts `karst run` and waits for it."""
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from karst.deck import Deck, as_file, overrides
from karst.program import Process, find_program
from karst.results import Results


class Run:
    """A run at work: is_running, output so far, stop() to end in order, wait() for its Results."""

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
        """Its Results. Raises RunError with the message of the program when it ends otherwise than well."""
        with self._files:
            self._process.wait()
        return Results(self._out)


def start(deck: Deck | str | Path, out: str | Path, *, threads: int | None = None, ranks: int = 1, overwrite: bool = False,
          resume: bool = False, echo: bool = False, program: str | Path | None = None, **changes: Any) -> Run:
    """Starts a run and comes back at once; see run()."""
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
    """Runs a deck and returns its Results. Raises RunError with the program's own message when it fails; a KeyboardInterrupt
    ends the run in order first, so that resume=True goes on with it.

    deck       dictionary (names of files in it are relative to where Python runs), or the path of a deck, image or
               geometry file
    out        folder of the results; it may hold earlier ones only with overwrite or resume
    threads    per rank; None: OMP_NUM_THREADS, else all processors
    ranks      more than 1: under mpirun
    echo       print what the program says as it says it
    program    path of karst; None: find_program()
    changes    keys of the deck to set: flow={"axes": ["x"]}, fluid={"viscosity": "1.2 cP"}, **{"grid.box": 8}
    """
    return start(deck, out, threads=threads, ranks=ranks, overwrite=overwrite, resume=resume, echo=echo, program=program, **changes).wait()

# SPDX-License-Identifier: BSD-3-Clause
"""Starts `karst run`, with or without waiting for it."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from karst.deck import Deck, as_file, overrides
from karst.error import KarstError, RunError, UnknownName, nearest
from karst.image import import_image, without_mask
from karst.program import Process, find_program
from karst.progress import Progress, ProgressLine, in_notebook, read_progress
from karst.results import Results

MOST_LABELS = 32  # of an array; more different values are gray values
RUN_OPTIONS = ("out", "threads", "ranks", "overwrite", "resume", "echo", "progress", "program", "voxel", "names")


class Run:
    """A running simulation: is_running, output and progress so far, stop() to request an orderly end, wait() for its Results."""

    def __init__(self, process: Process, out: Path, files: ExitStack, shows_progress: bool = False):
        self._process, self._out, self._files, self._shows_progress = process, out, files, shows_progress

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    @property
    def output(self) -> str:
        return self._process.output

    @property
    def progress(self) -> Progress | None:
        """Fraction, time left and what is at work; None before the run has told any, and after its end."""
        return read_progress(self._out) if self.is_running else None

    def stop(self) -> None:
        self._process.stop()

    def wait(self) -> Results:
        """Waits for the Results. Raises RunError with the program's message if the run fails."""
        with self._files:
            wait_shown(self._process, lambda: str(self.progress or "starting"), str(self._out), self._shows_progress)
        return Results(self._out)


def wait_shown(process: Process, text: Any, what: str, is_shown: bool) -> str:
    """Waits for a program, with a line that shows text() meanwhile, and "WHAT: completed" or how it ended."""
    if not is_shown:
        return process.wait()
    line = ProgressLine(lambda: f"{what}: {text()}")
    try:
        output = process.wait(line.show)
    except RunError as error:
        line.end(f"{what}: {'stopped' if error.status in (124, 130, 138, 143) else 'failed'}")
        raise
    except KeyboardInterrupt:
        line.end(f"{what}: interrupted")
        raise
    line.end(f"{what}: completed")
    return output


def require_tables(changes: Mapping[str, Any], options: Iterable[str]) -> None:
    """An unknown keyword that is spelled like an option, and not a table of the deck, is an error that names it."""
    for name, value in changes.items():
        near = nearest(name, options)
        if near and not isinstance(value, Mapping) and "." not in name and name != "title":
            raise UnknownName(f"no option '{name}' (did you mean '{near[0]}'?); keys of the deck are given as tables: grid={{\"box\": 32}}")


def import_labels(image: np.ndarray, output: str | Path, *, voxel: float | str | None, names: Mapping[int, str] | None = None,
                  overwrite: bool = False, threads: int | None = None, program: str | Path | None = None) -> Path:
    """Writes an array [k, j, i] of phases as a geometry file: booleans (True: pore), or integers (0: pore, the others solids).

    names  of labels, such as {1: "quartz", 2: "calcite"}: these become minerals; None: all that is not 0 is one solid
    """
    image = without_mask(image)
    if image.ndim != 3:
        raise KarstError(f"the array has the shape {image.shape}: an image has three dimensions, [k, j, i], z first; a plane is image[None, :, :]")
    if image.dtype == bool:
        image = np.where(image, 0, 1).astype(np.uint8)
    if image.dtype.kind not in "iu":
        raise KarstError(f"the array holds {image.dtype}: phases are booleans (True: pore) or integers (0: pore); gray values are imported first, "
                         "karst.import_image(array, \"rock.h5\", voxel=...), and then karst.run(\"rock.h5\")")
    labels = np.unique(image)
    if len(labels) > MOST_LABELS:
        raise KarstError(f"the array has {len(labels)} different values, so these are not phases; gray values are imported first, "
                         "karst.import_image(array, \"rock.h5\", voxel=...), and then karst.run(\"rock.h5\")")
    if 0 not in labels:
        raise KarstError(f"the array has no pore, which is 0 (or True); its values are {', '.join(map(str, labels))}")
    if voxel is None:
        raise KarstError("voxel: the width of a voxel is required with an array; give it in metres, or as a text: voxel=\"5 um\"")
    phases: dict[str, Any] = {"pore": 0}
    if names is not None:
        unnamed = [str(label) for label in labels if label != 0 and int(label) not in names]
        if unnamed:
            raise KarstError(f"names: has none for the labels {', '.join(unnamed)} of the array")
        values = [int(label) for label in labels]
        phases = {"label_values": values, "names": [{**names, 0: "pore"}[value] for value in values]}
    narrow = image.astype(np.result_type(np.min_scalar_type(labels[0]), np.min_scalar_type(labels[-1])))
    return import_image(narrow, output, voxel=voxel, overwrite=overwrite, page=False, threads=threads, program=program, **phases).path


def start(deck: Deck | str | Path | np.ndarray, out: str | Path, *, threads: int | None = None, ranks: int = 1, overwrite: bool = False,
          resume: bool = False, echo: bool = False, progress: bool | None = None, program: str | Path | None = None,
          voxel: float | str | None = None, names: Mapping[int, str] | None = None, **changes: Any) -> Run:
    """Starts a run without waiting for it; see run()."""
    require_tables(changes, RUN_OPTIONS)
    out, program = Path(out), str(program or find_program())
    if isinstance(deck, np.ndarray):
        geometry = out.with_name(f"{out.name}.h5")
        geometry.parent.mkdir(parents=True, exist_ok=True)  # imported again to resume: karst compares it with what was solved
        import_labels(deck, geometry, voxel=voxel, names=names, overwrite=overwrite or resume, threads=threads, program=program)
        deck = geometry
    elif voxel is not None or names is not None:
        raise KarstError(f"{'voxel' if voxel is not None else 'names'}: belongs to an array; an image file is imported by karst.import_image()")
    files = ExitStack()
    try:
        file = files.enter_context(as_file(deck))
        words = [program, "run", file, "--out", str(out), *overrides(changes)]
        words += [] if threads is None else ["--threads", str(threads)]
        words += ["--overwrite"] if overwrite else []
        words += ["--resume"] if resume else []
        shows = (in_notebook() if progress is None else progress) and not echo
        return Run(Process(words, ranks, echo), out, files, shows)
    except BaseException:
        files.close()
        raise


def run(deck: Deck | str | Path | np.ndarray, out: str | Path, *, threads: int | None = None, ranks: int = 1, overwrite: bool = False,
        resume: bool = False, echo: bool = False, progress: bool | None = None, program: str | Path | None = None,
        voxel: float | str | None = None, names: Mapping[int, str] | None = None, **changes: Any) -> Results:
    """Runs a deck and returns its Results. Raises RunError with the program's message if it fails; after a KeyboardInterrupt the run ends
    in an orderly way, so that resume=True continues it.

    deck       dictionary (file names in it are relative to the working directory), or the path of a deck, image or
               geometry file, or an array [k, j, i] of phases: booleans (True: pore) or integers (0: pore); it is imported to OUT.h5
    out        folder of the results; it may contain earlier ones only with overwrite or resume
    threads    per rank; None: OMP_NUM_THREADS, else all processors
    ranks      more than 1: under mpirun
    echo       print the output of the program while it runs
    progress   show the fraction done and the time left in one line; None: in notebooks
    program    path of karst; None: find_program()
    voxel      of an array: width [m], or a text with a unit: "5 um"
    names      of the labels of an array, {1: "quartz"}: these become minerals; None: all that is not 0 is one solid
    changes    keys of the deck to set: flow={"axes": ["x"]}, fluid={"viscosity": "1.2 cP"}, **{"grid.box": 8}
    """
    return start(deck, out, threads=threads, ranks=ranks, overwrite=overwrite, resume=resume, echo=echo, progress=progress, program=program,
                 voxel=voxel, names=names, **changes).wait()

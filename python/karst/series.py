# SPDX-License-Identifier: BSD-3-Clause
"""Series of plotfiles of a transient run."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karst.error import KarstError, UnknownNumber
from karst.plotfile import Plotfile

if TYPE_CHECKING:
    import xarray


def listed(file: Path) -> list[tuple[Path, float]]:
    """Entries of a file NAME.vtkhdf.series (JSON, the format of ParaView): paths in its folder, and times [s]."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["files"]
        return [(file.parent / entry["name"], float(entry["time"])) for entry in entries]
    except OSError as error:
        raise KarstError(f"{file}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError):
        raise KarstError(f"{file}: is not a list of plotfiles ({{\"files\": [{{\"name\": ..., \"time\": ...}}]}})") from None


def _found(folder: Path) -> list[tuple[Path, float]]:
    """Plotfiles of a folder without a list: the intermediate ones, then the last one, with the times stored in them."""
    timed = []
    for path in [*sorted(folder.glob("output_*.vtkhdf")), *folder.glob("plot.vtkhdf")]:
        with Plotfile(path) as plot:
            timed.append((path, plot.time))
    return timed


def _with_last(folder: Path, files: list[tuple[Path, float]]) -> list[tuple[Path, float]]:
    """Adds the final state, plot.vtkhdf, where the list of a run does not have it."""
    last = folder / "plot.vtkhdf"
    if not last.exists() or any(file.name == last.name for file, _ in files):
        return files
    with Plotfile(last) as plot:
        return [*files, (last, plot.time)]


def entry(paths: list[Path], number: int, what: str) -> Path:
    """One of the paths; negative numbers count from the end. An IndexError ends loops over a series."""
    if not -len(paths) <= number < len(paths):
        raise UnknownNumber(f"[{number}]: there are {len(paths)} {what}, 0 to {len(paths) - 1}")
    return paths[number]


class Series:
    """The plotfiles of a run in order of time.

        series = Series("out/tracer")        a folder, or a file NAME.vtkhdf.series
        series.times                         array (plotfiles) [s]
        for plot in series:                  each is opened in turn and closed before the next one
            plot.time, plot.plane("concentration_tracer", axis=2, at=0.5)
        series[-1]                           one of them; the caller closes it (with series[-1] as plot: ...)
        series.to_xarray("concentration_tracer")   all times in one xarray.Dataset
    """

    def __init__(self, path: str | Path):
        place = Path(path)
        if place.is_dir():
            lists = sorted(place.glob("*.vtkhdf.series"))
            if len(lists) > 1:
                raise KarstError(f"{place}: has several series ({', '.join(file.name for file in lists)}); give the path of one of them")
            files = _with_last(place, listed(lists[0])) if lists else _found(place)
        else:
            files = listed(place)
        if not files:
            raise KarstError(f"{place}: contains no plotfiles; a transient run writes them with output.plot and time.output")
        missing = [str(file) for file, _ in files if not file.exists()]
        if missing:
            raise KarstError(f"{place}: lists files that do not exist: {', '.join(missing)}")
        self.paths = [file for file, _ in files]
        self.times = np.array([time for _, time in files])

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> Plotfile:
        return Plotfile(entry(self.paths, number, "plotfiles"))

    def __iter__(self) -> Iterator[Plotfile]:
        for path in self.paths:
            with Plotfile(path) as plot:
                yield plot

    def nearest(self, time: float) -> Plotfile:
        """The plotfile nearest to a time [s]."""
        return self[int(np.abs(self.times - time).argmin())]

    def to_xarray(self, *fields: str, level: int = -1, length: str = "m") -> "xarray.Dataset":
        """Fields (default: all) of all times in memory, as of Plotfile.to_xarray() with a first dimension time [s]. The finest level is that
        of the plotfile with the most levels."""
        from karst.labelled import series_dataset
        return series_dataset(self, fields, level, length)

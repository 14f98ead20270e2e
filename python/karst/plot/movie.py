# SPDX-License-Identifier: BSD-3-Clause
"""Makes a movie of a transient run: a plane of a field over time, with one colour scale, the time and a colour bar.

RESULTS is the directory of the run or a list of its plotfiles, NAME.vtkhdf.series, or one of its slices, slice_NAME.vti.series. The ending of
the output chooses the kind: .mp4 (needs ffmpeg: the program, or the package imageio-ffmpeg), .gif, .webp; none: a directory of numbered PNG
files for other programs.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karst.error import KarstError
from karst.optional import needs
from karst.plot.slice import add_bar, draw_field, draw_plane, magnitude, new_figure
from karst.plotfile import GEOMETRY, Plotfile, length_unit
from karst.series import Series
from karst.slices import Slice, Slices
from karst.units import axis_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 120
FIRST = ("concentration", "speed", "velocity", "pressure")  # what is shown when no field is named
TIMES = ((86400.0, "d"), (3600.0, "h"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results")
    parser.add_argument("--field", help="default: the first concentration, speed or velocity (of a vector: its magnitude)")
    parser.add_argument("--axis", default="z", choices=["x", "y", "z"], help="the plane's normal (default z)")
    parser.add_argument("--at", default="0.5", help="position along the axis: 0 to 1 of the domain (default 0.5), or a place such as 0.2mm")
    parser.add_argument("--fps", type=float, default=8.0, help="frames per second (default 8)")
    parser.add_argument("--limits", nargs=2, type=float, metavar=("LOW", "HIGH"),
                        help="ends of the colours (default: least and largest value of all times)")
    parser.add_argument("--title", default="", help="text above the picture, before the time")
    parser.add_argument("-o", "--output", help="movie.mp4, movie.gif, movie.webp, or a directory for PNG files "
                                               "(default: movie.mp4 in RESULTS or, without ffmpeg, movie.gif)")


def draw(options: argparse.Namespace) -> None:
    try:
        at: float | str = float(options.at)
    except ValueError:
        at = options.at
    if not options.output and ffmpeg() is None:
        print("movie.gif in place of movie.mp4: there is no ffmpeg; install the program, or the package imageio-ffmpeg", file=sys.stderr)
    print(write_movie(options.results, options.output, field=options.field, axis=options.axis, at=at, fps=options.fps, title=options.title,
                      limits=tuple(options.limits) if options.limits else None))


@dataclass
class Shots:
    """Times [s] of a series, and for each its values in the plane and its picture."""

    folder: Path
    times: np.ndarray
    fields: list[str]
    values: Callable[[int, str], np.ndarray]
    figure: Callable[[int, str, str, tuple[float, float]], Figure]


def of_plotfiles(results: Path, axis: int, at: float | str) -> Shots:
    series = Series(results)
    with series[0] as first:
        fields = [name for name in first.arrays if not name.startswith(GEOMETRY)]

    def values(number: int, field: str) -> np.ndarray:
        with series[number] as plot:
            return magnitude(plot.plane(field, axis, at))

    def figure(number: int, field: str, title: str, limits: tuple[float, float]) -> Figure:
        with series[number] as plot:
            return draw_plane(plot, field, axis, at, title, False, limits)
    return Shots(results if results.is_dir() else results.parent, series.times, fields, values, figure)


def of_slices(results: Path) -> Shots:
    slices = Slices(results)
    if len(slices) == 0:
        raise KarstError(f"{results}: lists no slices")

    def figure(number: int, field: str, title: str, limits: tuple[float, float]) -> Figure:
        plane: Slice = slices[number]
        u, v = (d for d in range(3) if d != plane.axis)
        values = magnitude(plane[field])
        sizes = plane.spacing[u] * values.shape[1], plane.spacing[v] * values.shape[0]
        scale, unit = length_unit(max(sizes))
        extent = [scale * x for d, size in zip((u, v), sizes) for x in (plane.origin[d], plane.origin[d] + size)]
        picture, axes = new_figure(sizes, "a movie")
        image = draw_field(axes, values, np.isfinite(values).astype(float), extent, field)
        image.set_clim(*limits)
        axes.set(xlabel=f"{'xyz'[u]} [{unit}]", ylabel=f"{'xyz'[v]} [{unit}]")
        axes.set_title(title, fontsize=11)
        add_bar(picture, axes, image, field, plane.arrays[field])
        return picture
    return Shots(results.parent, slices.times, list(slices[0].arrays), lambda n, field: magnitude(slices[n][field]), figure)


def ffmpeg() -> str | None:
    """The program that writes MP4: of PATH, else of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe
            found = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            return None
    return found


def time_text(time: float, longest: float) -> str:
    """A time in a unit for times up to the longest [s], always of the same width.

    >>> time_text(0.25, 2.0), time_text(1800.0, 3.6e5)
    ('t = 0.250 s', 't = 0.021 d')
    """
    factor, unit = next(((f, u) for f, u in TIMES if longest >= f), TIMES[-1])
    digits = max(0, 3 - len(str(int(longest / factor))) + 1)
    return f"t = {time / factor:.{digits}f} {unit}"


def limits_of(shots: Shots, field: str) -> tuple[float, float]:
    """Least and largest value of all times."""
    planes = (shots.values(n, field) for n in range(len(shots.times)))
    ends = [(np.nanmin(values), np.nanmax(values)) for values in planes if np.isfinite(values).any()]
    if not ends:
        raise KarstError(f"{field}: there is no fluid in this plane at any time; choose another one by axis and at")
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def frames(shots: Shots, field: str, title: str, limits: tuple[float, float], folder: Path) -> Iterator[Path]:
    """PNG files frame_0001.png ... in a folder, all of one size."""
    for n, time in enumerate(shots.times):
        path = folder / f"frame_{n + 1:04d}.png"
        words = [*([title] if title else []), time_text(float(time), float(shots.times[-1]))]
        shots.figure(n, field, ", ".join(words), limits).savefig(path, dpi=DPI)
        yield path


def join(paths: list[Path], output: Path, fps: float) -> None:
    """Frames as one file, whose ending says which kind."""
    if output.suffix == ".mp4":
        words = [str(ffmpeg()), "-v", "error", "-y", "-framerate", f"{fps:g}", "-i", str(paths[0].parent / "frame_%04d.png"),
                 "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-f", "mp4", str(output) + ".tmp"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            Path(f"{output}.tmp").unlink(missing_ok=True)
            raise KarstError(f"{output}: ffmpeg cannot write it ({done.stderr.strip() or done.returncode}); movie.gif needs no ffmpeg")
        os.replace(f"{output}.tmp", output)
        return
    pictures = needs("PIL.Image", f"a movie {output.suffix}")
    shown = [pictures.open(path).convert("RGB") for path in paths]
    if output.suffix == ".gif":  # one palette for all: colours do not flicker
        palette = shown[-1].quantize(256)
        shown = [picture.quantize(palette=palette, dither=pictures.Dither.NONE) for picture in shown]
    kind = output.suffix[1:].upper()
    shown[0].save(f"{output}.tmp", kind, save_all=True, append_images=shown[1:], duration=round(1000.0 / fps), loop=0)
    os.replace(f"{output}.tmp", output)


def write_movie(results: str | Path, output: str | Path | None = None, *, field: str | None = None, axis: int | str = "z", at: float | str = 0.5,
                fps: float = 8.0, limits: tuple[float, float] | None = None, title: str = "") -> Path:
    """Writes a movie of a plane over the times of a run, and returns its path; see the text above. Raises KarstError.

    results  directory of a run, NAME.vtkhdf.series, or slice_NAME.vti.series, whose axis and place are those of the slices
    limits   ends of the colours; None: the least and the largest value of all times
    """
    place = Path(results)
    shots = of_slices(place) if place.name.endswith(".vti.series") else of_plotfiles(place, axis_number(axis), at)
    if field is None:
        field = next((name for first in FIRST for name in shots.fields if first in name), shots.fields[0] if shots.fields else "fraction")
    if not 0.1 <= fps <= 120.0:
        raise KarstError(f"--fps {fps:g}: allowed are 0.1 to 120 frames per second")
    target = Path(output) if output else shots.folder / ("movie.mp4" if ffmpeg() else "movie.gif")
    if target.suffix not in ("", ".mp4", ".gif", ".webp"):
        raise KarstError(f"{target}: a movie ends in .mp4, .gif or .webp; a name without an ending is a directory of PNG files")
    if target.suffix == ".mp4" and ffmpeg() is None:
        raise KarstError(f"{target}: needs ffmpeg, which is not there: install it (Debian: apt install ffmpeg), or the package imageio-ffmpeg; "
                         "movie.gif, movie.webp and a directory of PNG files need none")
    ends = limits or limits_of(shots, field)
    try:
        if not target.suffix:
            target.mkdir(parents=True, exist_ok=True)
            list(frames(shots, field, title, ends, target))
            return target
        with tempfile.TemporaryDirectory(prefix=".karst-movie-", dir=target.parent) as folder:
            join(list(frames(shots, field, title, ends, Path(folder))), target, fps)
    except OSError as problem:
        raise KarstError(f"{target}: the movie cannot be written ({problem})") from None
    return target

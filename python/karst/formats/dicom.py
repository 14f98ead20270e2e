# SPDX-License-Identifier: BSD-3-Clause
"""DICOM through pydicom: a folder with one file per slice, or a file of one or many frames. Slices are ordered by their positions in
space, never by their names."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, require, uniform_step

MARK_AT, MARK = 128, b"DICM"


def is_dicom(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(MARK_AT)
        return file.read(4) == MARK


def header(path: Path) -> Any:
    import pydicom

    try:
        return pydicom.dcmread(path, stop_before_pixels=True)
    except Exception as error:
        raise KarstError(f"{path}: its DICOM header is damaged ({error})") from None


def check_gray(ds: Any, path: Path) -> None:
    """What the pixels are, before memory is taken for them."""
    for name in ("Rows", "Columns", "BitsAllocated"):
        require(isinstance(ds.get(name), int) and ds.get(name) > 0, f"{path}: has no {name}: it holds no image")
    require(
        ds.get("SamplesPerPixel", 1) == 1 and str(ds.get("PhotometricInterpretation", "MONOCHROME2")).startswith("MONOCHROME"),
        f"{path}: its pixels are {ds.get('PhotometricInterpretation')}, {ds.get('SamplesPerPixel')} values each; only gray images are read",
    )


def number(ds: Any, name: str) -> float | None:
    try:
        value = ds.get(name)
        return None if value is None or value == "" else float(value)
    except (TypeError, ValueError):
        raise KarstError(f'{ds.filename}: {name} is "{ds.get(name)}", not a number') from None


def numbers(ds: Any, name: str, count: int) -> np.ndarray | None:
    value = ds.get(name) if ds is not None else None
    if value is None or (isinstance(value, str) and not value):
        return None
    try:
        found = np.array([float(v) for v in value])
    except (TypeError, ValueError):
        found = np.zeros(0)
    require(found.size == count and np.all(np.isfinite(found)), f"{name} is {value}: {count} numbers are needed")
    return found


def pixels(path: Path) -> tuple[Any, np.ndarray]:
    """The values of a file, scaled as it states, [frame, row, column]."""
    import pydicom

    try:
        ds = pydicom.dcmread(path)
        check_gray(ds, path)
        frames = int(ds.get("NumberOfFrames") or 1)
        needed = frames * ds.Rows * ds.Columns * ds.BitsAllocated // 8
        compressed = ds.file_meta.TransferSyntaxUID.is_compressed
        require(
            compressed or "PixelData" not in ds or len(ds.PixelData) in (needed, needed + needed % 2),
            f"{path}: its pixels need {needed} bytes, it has {len(ds.get('PixelData', b''))}",
        )
        values = ds.pixel_array.reshape(frames, ds.Rows, ds.Columns)
        bits = int(ds.get("BitsStored", ds.BitsAllocated))
        if values.dtype.kind in "iu" and 0 < bits < ds.BitsAllocated:
            low, high = (0, 2**bits - 1) if values.dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            require(values.min() >= low and values.max() <= high, f"{path}: has values from {values.min()} to {values.max()}, but states {bits} bits")
    except KarstError:
        raise
    except Exception as error:
        raise KarstError(f"{path}: its pixels cannot be read as DICOM ({error})") from None
    return ds, values


@dataclass
class Scale:
    slope: float
    intercept: float

    def apply(self, values: np.ndarray) -> np.ndarray:
        if (self.slope, self.intercept) == (1.0, 0.0):
            return values
        whole = self.slope.is_integer() and self.intercept.is_integer() and values.dtype.kind in "iu"
        return (
            values.astype(np.int32) * int(self.slope) + int(self.intercept)
            if whole
            else values.astype(np.float32) * np.float32(self.slope) + np.float32(self.intercept)
        )


def scale_of(ds: Any) -> Scale:
    slope, intercept = number(ds, "RescaleSlope"), number(ds, "RescaleIntercept")
    require(slope is None or (slope != 0 and np.isfinite(slope)), f"{ds.filename}: its RescaleSlope is {slope}")
    return Scale(1.0 if slope is None else slope, 0.0 if intercept is None else intercept)


def finish(image: Image, ds: Any, scale: Scale, same_scale: bool) -> Image:
    if not same_scale:
        image.notes.append("its slices have different RescaleSlope and RescaleIntercept, which are applied")
    elif (scale.slope, scale.intercept) != (1.0, 0.0):
        image.notes.append(f"its rescale is applied: values are {scale.intercept:g} + {scale.slope:g} times the stored values")
    if ds.get("PhotometricInterpretation") == "MONOCHROME1":
        image.black = scale.slope * (2.0 ** int(ds.get("BitsStored", 8)) - 1) + scale.intercept
    return image


def set_dicom_widths(image: Image, in_plane: np.ndarray | None, step: float | None) -> None:
    """PixelSpacing is the distance of rows (y), then that of columns (x) [mm]."""
    if in_plane is None:
        image.note = "DICOM without PixelSpacing"
        return
    if step is None:
        image.notes.append("its files do not state the distance between slices: it is taken equal to the width in x")
    image.widths, image.unit = (float(in_plane[1]), float(in_plane[0]), float(abs(step) if step else in_plane[1])), 1e-3


def stated_step(ds: Any) -> float | None:
    return number(ds, "SpacingBetweenSlices") or number(ds, "SliceThickness")


class Slices:
    """The planes of a stack of files, each read when it is asked for."""

    def __init__(self, paths: list[Path], shape: tuple[int, int, int], scales: list[Scale], dtype: np.dtype):
        self.paths, self.shape, self.scales, self.dtype = paths, shape, scales, dtype

    def __getitem__(self, k: int) -> np.ndarray:
        values = pixels(self.paths[k])[1]
        require(values.shape == (1, *self.shape[1:]), f"{self.paths[k]}: has {values.shape} pixels, the other slices {self.shape[1:]}")
        plane = self.scales[k].apply(values[0])
        require(np.can_cast(plane.dtype, self.dtype, "safe"), f"{self.paths[k]}: its values are {plane.dtype}, those of the first slice {self.dtype}")
        return plane


def series_of(headers: list[tuple[Path, Any]], folder: Path, name: str | None) -> list[tuple[Path, Any]]:
    series: dict[str, list[tuple[Path, Any]]] = {}
    for path, ds in headers:
        series.setdefault(str(ds.get("SeriesInstanceUID", "")), []).append((path, ds))
    if name is not None:
        require(name in series, f"{folder}: has no series {name}; it has {', '.join(series)}")
        return series[name]
    listed = "; ".join(f"{uid} ({len(files)} files, {files[0][1].get('SeriesDescription', '')})" for uid, files in series.items())
    require(len(series) == 1, f"{folder}: has {len(series)} series: {listed}. State which one: {folder}:{next(iter(series))}")
    return next(iter(series.values()))


def distances(files: list[tuple[Path, Any]], folder: Path) -> np.ndarray | None:
    """Positions along the normal of the slices [mm]; None if no file states one."""
    places = [numbers(ds, "ImagePositionPatient", 3) for _, ds in files]
    turns = [numbers(ds, "ImageOrientationPatient", 6) for _, ds in files]
    missing = sum(place is None for place in places)
    if missing == len(files):
        return None
    require(missing == 0, f"{folder}: {missing} of its {len(files)} slices have no ImagePositionPatient")
    first = turns[0] if turns[0] is not None else np.array([1.0, 0, 0, 0, 1, 0])
    require(
        all(turn is None or np.allclose(turn, first, atol=1e-4) for turn in turns),
        f"{folder}: its slices have different orientations (ImageOrientationPatient)",
    )
    require(abs(first[:3] @ first[3:]) < 1e-3, f"{folder}: rows and columns of its slices are not at right angles (ImageOrientationPatient)")
    normal = np.cross(first[:3], first[3:])
    normal /= np.linalg.norm(normal)
    offsets = np.array(places) - places[0]
    along = offsets @ normal
    off = np.linalg.norm(offsets - np.outer(along, normal), axis=1).max()
    require(off <= 1e-3 * max(np.ptp(along), 1e-9) + 1e-6, f"{folder}: its slices are displaced sideways by up to {off:g} mm: the voxels are sheared")
    return along


def ordered(files: list[tuple[Path, Any]], folder: Path, notes: list[str]) -> tuple[list[tuple[Path, Any]], float | None]:
    """Slices in the order of their positions, and their distance [mm]."""
    along = distances(files, folder)
    if along is None:
        order = [number(ds, "InstanceNumber") for _, ds in files]
        require(
            len(files) == 1 or (None not in order and len(set(order)) == len(order)),
            f"{folder}: its slices have neither positions (ImagePositionPatient) nor different numbers (InstanceNumber): their order is unknown",
        )
        if len(files) > 1:
            notes.append("its slices state no positions (ImagePositionPatient): they are in the order of InstanceNumber")
            gaps = np.diff(sorted(order))
            require(np.all(gaps == gaps[0]), f"{folder}: {len(files)} slices with InstanceNumber from {min(order):g} to {max(order):g}: some are missing")
        return sorted(files, key=lambda file: number(file[1], "InstanceNumber") or 0.0), stated_step(files[0][1])
    by_place = [files[n] for n in np.argsort(along, kind="stable")]
    if len(files) == 1:
        return by_place, stated_step(files[0][1])
    places = np.sort(along)
    gaps = np.diff(places)
    require(
        gaps.min() > 1e-6 * max(gaps.max(), 1e-9),
        f"{folder}: two slices lie at the same position ({places[int(np.argmin(gaps))]:g} mm along their normal); is a file there twice?",
    )
    step = (places[-1] - places[0]) / (len(files) - 1)
    require(
        gaps.max() - gaps.min() <= 0.01 * step,
        f"{folder}: the distances between its slices are not uniform: {gaps.min():g} to {gaps.max():g} mm; a slice is missing, or the scan must be resampled",
    )
    said = stated_step(files[0][1])
    if said and abs(said / step - 1) > 1e-2:
        notes.append(f"it states slices {said:g} mm thick or apart; their positions are {step:g} mm apart, which is used")
    return by_place, float(step)


def read_folder(folder: Path, name: str | None) -> Image:
    everything = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "DICOMDIR")
    paths = [path for path in everything if is_dicom(path)]
    headers = [(path, header(path)) for path in paths]
    images = [(path, ds) for path, ds in headers if "Rows" in ds]
    require(images, f"{folder}: has no DICOM images")
    image = Image(None, "stack of DICOM")
    if len(images) < len(everything):
        image.notes.append(f"{len(everything) - len(images)} files of the folder are no DICOM images and were passed over")
    files = series_of(images, folder, name)
    if len(files) == 1 and int(files[0][1].get("NumberOfFrames") or 1) > 1:
        return read_file(files[0][0], None)
    for path, ds in files:
        check_gray(ds, path)
        require(int(ds.get("NumberOfFrames") or 1) == 1, f"{path}: has {ds.get('NumberOfFrames')} frames, in a folder of slices; give the file itself")
    shapes = {(ds.Rows, ds.Columns) for _, ds in files}
    require(len(shapes) == 1, f"{folder}: its slices have different sizes: {', '.join(f'{r} x {c}' for r, c in sorted(shapes))}")
    spacings = {tuple(s) if (s := numbers(ds, "PixelSpacing", 2)) is not None else None for _, ds in files}
    require(len(spacings) == 1, f"{folder}: its slices have different pixel widths (PixelSpacing)")
    files, step = ordered(files, folder, image.notes)
    scales = [scale_of(ds) for _, ds in files]
    in_plane = numbers(files[0][1], "PixelSpacing", 2)
    set_dicom_widths(image, in_plane, step)
    kinds = [scale.apply(pixels(path)[1][0, :1, :1]).dtype for (path, _), scale in ((files[0], scales[0]), (files[-1], scales[-1]))]
    same = all(scale == scales[0] for scale in scales)
    dtype = np.dtype(np.float64 if np.float64 in kinds else np.float32) if not same else kinds[0]
    image.values = Slices([path for path, _ in files], (len(files), *shapes.pop()), scales, dtype)
    return finish(image, files[0][1], scales[0], same)


def frame_places(ds: Any, path: Path, frames: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Positions of the frames along their normal [mm], and the distance of rows and columns."""
    shared = ds.get("SharedFunctionalGroupsSequence") or []
    each = ds.get("PerFrameFunctionalGroupsSequence") or []
    require(not each or len(each) == frames, f"{path}: has {frames} frames but describes {len(each)}")

    def of(items: Any, sequence: str, name: str, count: int) -> np.ndarray | None:
        for item in items:
            inner = item.get(sequence)
            if inner:
                return numbers(inner[0], name, count)
        return None

    measures = of([*shared, *each[:1]], "PixelMeasuresSequence", "PixelSpacing", 2)
    turn = of([*shared, *each[:1]], "PlaneOrientationSequence", "ImageOrientationPatient", 6)
    places = [of([frame], "PlanePositionSequence", "ImagePositionPatient", 3) for frame in each]
    if not places or any(place is None for place in places):
        return None, measures
    turn = np.array([1.0, 0, 0, 0, 1, 0]) if turn is None else turn
    return (np.array(places) - places[0]) @ np.cross(turn[:3], turn[3:]), measures


def read_file(path: Path, name: str | None) -> Image:
    require(name is None, f'{path}: a DICOM file has one image; remove ":{name}"')
    ds, values = pixels(path)
    image = Image(None, "DICOM")
    scale, in_plane = scale_of(ds), numbers(ds, "PixelSpacing", 2)
    step = stated_step(ds)
    if len(values) > 1:
        along, measures = frame_places(ds, path, len(values))
        in_plane = measures if in_plane is None else in_plane
        if along is None:
            image.notes.append("its frames state no positions: they are in the order of the file")
        else:
            order = np.argsort(along, kind="stable")
            step = uniform_step(along[order])
            require(step, f"{path}: the distances between its frames are not uniform")
            values = values[order]
    set_dicom_widths(image, in_plane, step)
    image.values = scale.apply(values)
    return finish(image, ds, scale, True)


def read_dicom(path: Path, name: str | None) -> Image:
    return read_folder(path, name) if path.is_dir() else read_file(path, name)

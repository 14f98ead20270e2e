# SPDX-License-Identifier: BSD-3-Clause
"""Images with changed metadata, read by Karst and by independent readers: tifffile, SimpleITK, nibabel, VTK, h5py, Pillow and NumPy.

usage: metadata.py KARST_READ_IMAGES [COUNT [SEED [FORMAT]]]

COUNT images in all (400). Each is refused by Karst with a message, or gives sizes, voxels and widths as the other reader has them, or what differs is told.
A difference without a word is a failure, as are crashes and hangs. Formats whose reader is not installed (tools/requirements_nightly.txt) are left out.
"""
import importlib.util
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib
from collections import Counter

import h5py
import numpy as np
import vtk
from PIL import Image
from vtk.util.numpy_support import vtk_to_numpy

from metadata_files import MAKERS


def package(name):
    """The package, None where it is not installed: formats that need it are left out then."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


nibabel, SimpleITK, tifffile = package("nibabel"), package("SimpleITK"), package("tifffile")

METRES = {"um": 1e-6, "\\u00B5m": 1e-6, "µm": 1e-6, "micron": 1e-6, "Micron": 1e-6, "mm": 1e-3, "nm": 1e-9, "cm": 1e-2, "m": 1.0, "meter": 1.0,
          "Å": 1e-10, "angstrom": 1e-10, "in": 0.0254}


class Refuse(Exception):
    """The image holds what is no volume of one value per voxel."""


class Truth:
    """What the other reader has: values (z, y, x), widths (x, y, z; None where nothing is stated), whether these are metres, whether 0 is white."""

    def __init__(self, values, widths=(None, None, None), metres=False, white=False):
        self.values = np.ascontiguousarray(values if values.ndim == 3 else values[None])
        self.widths, self.metres, self.white = widths, metres, white

    def crc(self):
        return zlib.crc32(self.values.astype("<f4").tobytes())


def oriented(plane, orientation):
    """Pixels to where the tag Orientation of TIFF says that they are (TIFF 6.0, page 36)."""
    if orientation >= 5:
        plane = plane.T
    if orientation in (2, 3, 6, 7):
        plane = plane[:, ::-1]
    if orientation in (3, 4, 7, 8):
        plane = plane[::-1]
    return plane


def length(text):
    try:
        value = abs(float(text))
        return value if value > 0 and np.isfinite(value) else None
    except (TypeError, ValueError):
        return None


def of_resolution(page, scale):
    tags = page.tags
    if "XResolution" not in tags or "YResolution" not in tags:
        return None, None
    return tuple(scale * tags[name].value[1] / tags[name].value[0] if tags[name].value[0] else None for name in ("XResolution", "YResolution"))


def tiff_widths(file):
    page = file.pages[0]
    unit = int(page.tags["ResolutionUnit"].value) if "ResolutionUnit" in page.tags else 1
    step = None
    if file.is_imagej:
        lines = dict(line.split("=", 1) for line in page.description.split("\n") if "=" in line)
        name = lines.get("unit", "")
        if name in METRES:
            x, y = of_resolution(page, METRES[name])
            own = METRES.get(lines.get("yunit") or name) or (0.0254 if lines["yunit"] == "inch" else None)
            y = y * own / METRES[name] if y and own else None
            z = length(lines.get("spacing"))
            other = lines.get("zunit") or name
            along_z = METRES.get(other) or (0.0254 if other == "inch" else None)
            return (x, y, z * along_z if z and along_z else None), True
        if name not in ("", "inch", "pixel"):
            return (None, None, None), False
    if file.is_ome:
        for element in ElementTree.fromstring(page.description).iter():
            if element.tag.endswith("Pixels"):
                found = []
                for axis in "XYZ":
                    value, name = length(element.get(f"PhysicalSize{axis}")), element.get(f"PhysicalSize{axis}Unit", "µm")
                    found.append(value * METRES[name] if value and name in METRES else None)
                if found[0] and found[1]:
                    return tuple(found), True
                step = found[2]
    if unit in (2, 3):
        scale = {2: 0.0254, 3: 0.01}[unit]
        x, y = of_resolution(page, scale)
        z = length(dict(line.split("=", 1) for line in page.description.split("\n") if "=" in line).get("spacing")) if file.is_imagej else None
        if x and x < 0.999 * 0.0254 / 1200:
            return (x, y, z * scale if z else step), True
    return (None, None, None), False


def tiff_truth(path):
    with tifffile.TiffFile(path) as file:
        series = file.series[0]
        several = [(axis, n) for axis, n in zip(series.axes, series.shape) if axis not in "YX" and n > 1]
        if len(several) > 1 or any(axis == "S" for axis, _ in several):
            raise Refuse(f"axes {several}")
        values = series.asarray()
        page = file.pages[0]
        if series.kind == "shaped" and len(file.pages) > 1 and len(file.pages) * page.imagelength * page.imagewidth == series.size:
            values = np.stack([p.asarray() for p in file.pages]).reshape(series.shape)  # which tifffile takes for contiguous
        if int(page.photometric) not in (0, 1, 3):
            raise Refuse(f"photometric {page.photometric}")
        values = values.reshape((-1, *values.shape[[n for n, a in enumerate(series.axes) if a == "Y"][0]:][:2]))
        pages = [p.aspage() for p in series.pages if p is not None]
        kinds = {int(p.photometric) for p in pages}
        white = kinds == {0}
        if 0 in kinds and not white:
            black = (1 << page.bitspersample) - 1
            values = np.stack([black - v.astype(float) if int(p.photometric) == 0 else v for v, p in zip(values, pages)])
        orientation = int(page.tags["Orientation"].value) if "Orientation" in page.tags else 1
        values = np.stack([oriented(v, orientation) for v in values])
        if file.is_imagej:
            lines = dict(line.split("=", 1) for line in page.description.split("\n") if "=" in line)
            c0, c1 = lines.get("c0"), lines.get("c1")
            if lines.get("cf") == "0" and c0 and c1:
                values = float(c0) + float(c1) * values.astype(float)
        widths, metres = tiff_widths(file)
        if orientation >= 5:
            widths = (widths[1], widths[0], widths[2])
        if page.photometric == tifffile.PHOTOMETRIC.PALETTE:
            ramp = page.colormap[0].astype(int)
            white = bool(np.all(page.colormap == page.colormap[0]) and np.all(np.diff(ramp) <= 0))
        return Truth(values, widths, metres, white)


def itk_truth(suffix, metres_of):
    def truth(path):
        named = path.with_name("named" + suffix)
        shutil.copyfile(path, named)
        image = SimpleITK.ReadImage(str(named))
        if image.GetNumberOfComponentsPerPixel() > 1 or image.GetDimension() > 3:
            raise Refuse(f"{image.GetNumberOfComponentsPerPixel()} components, {image.GetDimension()} dimensions")
        unit = metres_of(path.read_bytes().split(b"\n\n")[0].decode("latin-1"))
        spacing = tuple(w * (unit or 1) for w in image.GetSpacing())
        known = unit is not None and image.GetSpacing() != (1.0,) * image.GetDimension()
        return Truth(SimpleITK.GetArrayFromImage(image), spacing if len(spacing) == 3 else (*spacing, None), known)
    return truth


def meta_unit(text):
    return 1e-6 if "DistanceUnits = um" in text else 1e-3


def nrrd_unit(text):
    for line in text.split("\n"):
        if line.startswith(("space units:", "units:")):
            return METRES.get(line.split('"')[1]) if '"' in line else None
    return None


def nifti_truth(path):
    image = nibabel.load(path)
    values = np.asanyarray(image.dataobj)
    while values.ndim > 3 and values.shape[-1] == 1:
        values = values[..., 0]
    if values.ndim > 3:
        raise Refuse(f"shape {values.shape}")
    zooms = [abs(float(w)) for w in image.header.get_zooms()[:values.ndim]]
    unit = {"mm": 1e-3, "micron": 1e-6, "meter": 1.0}.get(image.header.get_xyzt_units()[0])
    columns = image.affine[:3, :values.ndim]
    norms = np.linalg.norm(columns, axis=0)
    cosines = (columns.T @ columns) / np.outer(norms, norms)
    if image.header["sform_code"] > 0 and (not np.allclose(norms, zooms, rtol=2e-3) or np.abs(cosines - np.eye(len(norms))).max() > 2e-3):
        raise Refuse("pixdim and sform differ, or sheared")
    known = unit is not None and any(w != 1 for w in zooms)
    widths = [w * (unit or 1) for w in zooms]
    return Truth(values.transpose(), tuple(widths) if len(widths) == 3 else (*widths, None), known)


def vti_truth(path):
    reader = vtk.vtkXMLImageDataReader()
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    array = image.GetPointData().GetScalars() or image.GetCellData().GetScalars()
    if errors or array is None:
        raise ValueError("VTK does not read it")
    if array.GetNumberOfComponents() > 1:
        raise Refuse("components")
    cells = image.GetPointData().GetScalars() is None
    nx, ny, nz = (max(1, n - cells) for n in image.GetDimensions())
    direction = np.array([[image.GetDirectionMatrix().GetElement(r, c) for c in range(3)] for r in range(3)])
    if not np.allclose(direction.T @ direction, np.eye(3), atol=2e-3):
        raise Refuse("directions that are no rotation")
    return Truth(vtk_to_numpy(array).reshape(nz, ny, nx), tuple(abs(w) for w in image.GetSpacing()), False)


def numpy_truth(path):
    values = np.load(path)
    if values.ndim not in (2, 3):
        raise Refuse(f"{values.ndim} axes")
    return Truth(values)


def hdf5_truth(path):
    with h5py.File(path) as file:
        found = []
        file.visititems(lambda _, o: found.append(o) if isinstance(o, h5py.Dataset) and o.ndim > 1 else None)
        if len(found) != 1 or found[0].ndim > 3:
            raise Refuse("dimensions")
        widths = found[0].attrs.get("element_size_um")
        known = isinstance(widths, np.ndarray) and widths.shape == (3,) and np.all(np.isfinite(widths.astype(float))) and np.all(widths != 0)
        return Truth(found[0][()], tuple(1e-6 * abs(float(w)) for w in widths[::-1]) if known else (None,) * 3, bool(known))


def png_truth(path):
    with Image.open(path) as image:
        values = np.asarray(image).astype(float)
        bits = path.read_bytes()[24]
        if image.mode == "L" and bits < 8:  # Pillow spreads few bits over eight
            values = values / (255 // ((1 << bits) - 1))
        white = False
        if image.mode == "P":
            palette = np.array(image.getpalette("RGB")).reshape(-1, 3)
            white = bool(np.all(palette == palette[:, :1]) and np.all(np.diff(palette[:, 0]) <= 0))
    widths, metres = (None, None, None), False
    data = path.read_bytes()
    if (at := data.find(b"pHYs")) > 0:
        x, y, unit = int.from_bytes(data[at + 4:at + 8], "big"), int.from_bytes(data[at + 8:at + 12], "big"), data[at + 12]
        if x and y and (unit == 0 and x != y or unit == 1 and 1 / x < 0.999 * 0.0254 / 1200):
            widths, metres = (1 / x, 1 / y, None), unit == 1
    return Truth(values, widths, metres, white)


NEEDS = {"TIFF": tifffile, "MetaImage": SimpleITK, "NRRD": SimpleITK, "NIfTI": nibabel}
READERS = {"TIFF": tiff_truth, "MetaImage": itk_truth(".mha", meta_unit), "NRRD": itk_truth(".nrrd", nrrd_unit), "NIfTI": nifti_truth, "VTI": vti_truth,
           "NumPy": numpy_truth, "HDF5": hdf5_truth, "PNG": png_truth}


def widths_differ(karst, truth):
    """What is wrong with the widths, None when nothing is."""
    x, y, z = truth.widths
    found = karst["spacing"]
    if x is None or y is None:
        return f"widths {found} from nothing" if found else None
    expected = np.array([x, y, x if z is None else z])
    if z is None and truth.values.shape[0] > 1 and not karst["z_assumed"]:
        return "z is assumed without a word"
    if found and not truth.metres:
        return f"widths {found} without a unit"
    ratio = np.array(found if found else karst["proportions"]) / (expected if found else expected / expected[0])
    if truth.values.shape[0] == 1:
        ratio = ratio[:2]  # a plane may be of any thickness
    return None if np.allclose(ratio, 1, rtol=1e-3) else f"widths {found or karst['proportions']}, not {list(expected)}"


def judged(kind, path, karst):
    """Outcome and, for a failure, what is wrong."""
    if "crash" in karst:
        return "CRASH", karst["crash"]
    if "error" in karst:
        return "refused", ""
    try:
        truth = READERS[kind](path)
    except Refuse as why:
        return ("told", "") if karst["told"] else ("SILENT", f"should be refused: {why}")
    except Exception as why:  # noqa: BLE001: whatever the other reader throws
        return "read by Karst alone", f"{type(why).__name__}: {why}"
    wrong = None
    if tuple(karst["size"]) != truth.values.shape[::-1]:
        wrong = f"size {karst['size']}, not {truth.values.shape[::-1]}"
    elif karst["crc"] != truth.crc():
        wrong = "other values"
    elif karst["white_is_zero"] != truth.white:
        wrong = "black and white exchanged"
    wrong = wrong or widths_differ(karst, truth)
    if wrong is None:
        return "the same", ""
    return ("told", wrong) if karst["told"] else ("SILENT", wrong)


def main():
    reader, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    only = [kind for kind in sys.argv[4:] or MAKERS if NEEDS.get(kind, np) is not None]
    print("left out, as no other reader is installed:", [kind for kind in MAKERS if NEEDS.get(kind, np) is None])
    if SimpleITK:
        SimpleITK.ProcessObject.GlobalWarningDisplayOff()
    vtk.vtkObject.GlobalWarningDisplayOff()
    counts = {kind: Counter() for kind in only}
    with tempfile.TemporaryDirectory() as folder:
        images = []
        for n in range(count):
            kind = only[n % len(only)]
            place = pathlib.Path(folder) / str(n)
            place.mkdir()
            images.append((kind, MAKERS[kind](random.Random(seed * 1_000_003 + n), place)))
        told = subprocess.run([reader], input="".join(f"{path}\n" for _, path in images), capture_output=True, text=True, check=True).stdout.splitlines()
        assert len(told) == count, f"{len(told)} answers for {count} images"
        for n, ((kind, path), line) in enumerate(zip(images, told)):
            outcome, wrong = judged(kind, path, json.loads(line))
            counts[kind][outcome] += 1
            if outcome in ("SILENT", "CRASH") or len(sys.argv) > 4 and outcome == "read by Karst alone":
                print(f"  {outcome}: image {n} of seed {seed}, {kind}: {wrong}\n    {line}")
    failures = 0
    for kind, found in counts.items():
        failures += found["SILENT"] + found["CRASH"]
        print(f"{kind:10} {sum(found.values()):6} changed: " + ", ".join(f"{n} {what}" for what, n in sorted(found.items())))
    print(f"{count} images, {failures} failures")
    same = sum(found["the same"] for found in counts.values())
    assert same > count // 10, "hardly an image was compared"
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""One image written by VTK, h5py, Pillow and NumPy in every form that they have: each gives the same geometry file.

usage: read_images.py KARST DIRECTORY

The values differ in all three directions, so that exchanged axes or bytes would show, and use both bytes.
"""
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import tifffile
import vtk
from PIL import Image
from vtk.util.numpy_support import numpy_to_vtk

SIZE = (14, 12, 10)  # z, y, x


def sample():
    z, y, x = np.meshgrid(*[np.arange(n) for n in SIZE], indexing="ij")
    waves = np.sin(0.9 * x + 0.3) + np.sin(0.7 * y + 0.1 * z) + np.cos(0.5 * z - 0.2 * x)
    return np.round(1000 + 300 * waves).astype(np.uint16)


def as_vtk(values, cells=False):
    image = vtk.vtkImageData()
    nz, ny, nx = values.shape
    image.SetDimensions(nx + cells, ny + cells, nz + cells)
    array = numpy_to_vtk(values.ravel(), deep=True)
    array.SetName("gray")
    (image.GetCellData() if cells else image.GetPointData()).SetScalars(array)
    return image


def vtk_files(folder, values):
    """Paths of .vti files in all modes of VTK's writer, and .mha, .mhd, .nii, .nii.gz."""
    for cells in (False, True):
        for mode in ("Ascii", "Binary", "Appended", "AppendedBase64"):
            for packed in (False, True):
                for wide in (False, True):
                    writer = vtk.vtkXMLImageDataWriter()
                    path = folder / f"{'cells' if cells else 'points'}_{mode}_{packed}_{wide}.vti"
                    writer.SetFileName(str(path))
                    writer.SetInputData(as_vtk(values, cells))
                    getattr(writer, f"SetDataModeTo{mode.removesuffix('Base64')}")()
                    writer.SetEncodeAppendedData(mode.endswith("Base64"))
                    writer.SetCompressorTypeToZLib() if packed else writer.SetCompressorTypeToNone()
                    writer.SetBlockSize(1024)
                    writer.SetHeaderTypeToUInt64() if wide else writer.SetHeaderTypeToUInt32()
                    assert writer.Write() == 1
                    yield path
    for packed in (False, True):
        for name in ("rock.mha", "rock.mhd"):
            writer = vtk.vtkMetaImageWriter()
            path = folder / f"{packed}_{name}"
            writer.SetFileName(str(path))
            writer.SetInputData(as_vtk(values))
            writer.SetCompression(packed)
            writer.Write()
            yield path
    for name in ("rock.nii", "rock.nii.gz"):
        writer = vtk.vtkNIFTIImageWriter()
        path = folder / name
        writer.SetFileName(str(path))
        writer.SetInputData(as_vtk(values))
        writer.Write()
        yield path


def python_files(folder, values):
    for name, kind in (("u2", "<u2"), ("big", ">u2"), ("i8", "<i8"), ("f4", "<f4"), ("f8", ">f8")):
        np.save(folder / f"{name}.npy", values.astype(kind))
        yield folder / f"{name}.npy"
    for name, how in (("plain", {}), ("gzip", {"chunks": (3, 5, 4), "compression": "gzip"}),
                      ("all", {"chunks": True, "compression": "gzip", "shuffle": True, "fletcher32": True})):
        for version in ("earliest", "v110"):
            path = folder / f"{name}_{version}.h5"
            with h5py.File(path, "w", libver=version) as file:
                file.create_dataset("gray", data=values, **how)
            yield path
    pages = [Image.fromarray(plane) for plane in values]
    for compression in (None, "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        path = folder / f"{compression}.tif"
        pages[0].save(path, save_all=True, append_images=pages[1:], compression=compression)
        yield path
    for name, how in (("half", {}), ("half_big", {"byteorder": ">"}), ("half_packed", {"compression": "zlib"}), ("half_tiles", {"tile": (16, 16)})):
        path = folder / f"{name}.tif"
        tifffile.imwrite(path, values.astype(np.float16), **how)  # whole numbers up to 2048 fit
        yield path
    slices = folder / "slices"
    slices.mkdir()
    for n, page in enumerate(pages):
        page.save(slices / f"slice_{n:03}.png")
    yield slices


def geometry_of(karst, image, folder):
    """Wall and distances of the imported image; None with the reason printed when it is refused."""
    result = folder / "result.h5"
    command = [karst, "import", str(image), "-o", str(result), "--overwrite", "--page", "none", "--voxel", "2e-6", "--threshold", "1000"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{image.name}: {run.stdout}{run.stderr}")
        return None
    with h5py.File(result) as file:
        return file["level_set"][:], file["wall_distance"][:]


def main():
    karst, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir(parents=True)
    values = sample()
    np.save(folder / "reference.npy", values)
    expected = geometry_of(karst, folder / "reference.npy", folder)
    turned = folder / "turned.npy"
    np.save(turned, values[::-1])
    assert not np.array_equal(geometry_of(karst, turned, folder)[0], expected[0]), "the comparison sees no difference"
    wrong = read = 0
    for path in [*vtk_files(folder, values), *python_files(folder, values)]:
        found = geometry_of(karst, path, folder)
        read += 1
        if found is None or not all(np.array_equal(a, b) for a, b in zip(found, expected)):
            wrong += 1
            print(f"{path.name}: is not the image that was written")
    print(f"{read} files read, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

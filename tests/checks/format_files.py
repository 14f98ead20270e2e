# SPDX-License-Identifier: BSD-3-Clause
"""One image in the formats that `karst.formats` reads, written by the libraries of others where there are such: pydicom, zarr, SciPy,
netCDF4, h5py, VTK. The image has three different sizes, three different widths, and all its values differ."""

import bz2
import lzma
import zlib
from pathlib import Path

import h5py
import numpy as np

SHAPE = (5, 7, 11)  # z, y, x
WIDTHS = (2e-6, 3e-6, 5e-6)  # x, y, z [m]
VALUES = np.arange(np.prod(SHAPE), dtype=np.uint16).reshape(SHAPE) * 7 + 3
BYTES = (VALUES % 251).astype(np.uint8)
LABELS = (np.indices(SHAPE).sum(0) // 4 % 3).astype(np.uint8)


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def amira(path: Path, values: np.ndarray, kind: str, endian: str = "<", encode: str = "", name: str = "Data", extra: str = "", unit: str = "µm") -> Path:
    """As Amira 6 and Avizo 9 write it."""
    nz, ny, nx = values.shape
    ends = [w * 1e6 * (n - 1) for w, n in zip(WIDTHS, (nx, ny, nz))]
    raw = values.astype(endian + np.dtype(values.dtype).str[1:]).tobytes()
    body = {"": raw, "HxZip": zlib.compress(raw), "HxByteRLE": runs(raw)}[encode]
    first = "# AmiraMesh BINARY-LITTLE-ENDIAN 2.1" if endian == "<" else "# AmiraMesh 3D BINARY 2.0"
    coded = f"({encode},{len(body)})" if encode else ""
    units = f'    Units {{\n        Coordinates "{unit}"\n    }}\n' if unit else ""
    header = (
        f'{first}\n\n\ndefine Lattice {nx} {ny} {nz}\n\nParameters {{\n{extra}{units}    Content "{nx}x{ny}x{nz} {kind}, uniform coordinates",\n'
        f'    BoundingBox 10 {10 + ends[0]} -4 {ends[1] - 4} 0 {ends[2]},\n    CoordType "uniform"\n}}\n\nLattice {{ {kind} {name} }} @1{coded}\n\n# Data section follows\n@1\n'
    )
    return write(path, header.encode(), body, b"\n")


def runs(raw: bytes) -> bytes:
    """HxByteRLE: runs where there are some, else copies."""
    out, at = bytearray(), 0
    while at < len(raw):
        n = 1
        while at + n < len(raw) and n < 127 and raw[at + n] == raw[at]:
            n += 1
        if n > 1:
            out += bytes([n, raw[at]])
        else:
            while at + n < len(raw) and n < 127 and raw[at + n] != raw[at + n - 1]:
                n += 1
            out += bytes([128 + n]) + raw[at : at + n]
        at += n
    return bytes(out)


def vtk_file(path: Path, values: np.ndarray, cells: bool = False, binary: bool = True) -> Path:
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    image = vtk.vtkImageData()
    nz, ny, nx = values.shape
    image.SetDimensions(nx + cells, ny + cells, nz + cells)
    image.SetSpacing(2, 3, 5)
    array = numpy_to_vtk(values.ravel(), deep=True)
    array.SetName("gray")
    (image.GetCellData() if cells else image.GetPointData()).SetScalars(array)
    writer = vtk.vtkStructuredPointsWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(image)
    writer.SetFileTypeToBinary() if binary else writer.SetFileTypeToASCII()
    assert writer.Write() == 1
    return path


def dicom_slice(
    path: Path, plane: np.ndarray, k: int, slope: float = 1, intercept: float = 0, position: float | None = None, series: str = "1.2.3", **other
) -> Path:
    import pydicom
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

    ds = pydicom.Dataset()
    ds.file_meta = pydicom.dataset.FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    ds.file_meta.MediaStorageSOPClassUID = CTImageStorage
    ds.file_meta.MediaStorageSOPInstanceUID = ds.SOPInstanceUID = f"1.2.3.4.{k + 1}"
    ds.SOPClassUID, ds.SeriesInstanceUID, ds.InstanceNumber = CTImageStorage, series, 100 - k
    ds.Rows, ds.Columns, ds.SamplesPerPixel, ds.PhotometricInterpretation = *plane.shape[-2:], 1, "MONOCHROME2"
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 16, 16, 15, 0
    ds.PixelSpacing = [3e-3, 2e-3]  # rows apart, then columns [mm]
    ds.SliceThickness = 4e-3
    ds.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    ds.ImagePositionPatient = [1, 2, 5e-3 * k if position is None else position]
    ds.RescaleSlope, ds.RescaleIntercept = slope, intercept
    ds.PixelData = plane.astype("<u2").tobytes()
    if plane.ndim == 3:
        ds.NumberOfFrames = len(plane)
    for name, value in other.items():
        if value is None:
            delattr(ds, name)
        else:
            setattr(ds, name, value)
    ds.save_as(path, enforce_file_format=True)
    return path


def dicom_folder(path: Path, **other) -> Path:
    """Names in an order of their own, as scanners give them."""
    path.mkdir()
    for k, plane in enumerate(VALUES):
        dicom_slice(path / f"IM{(3 * k) % 5}", plane, k, **other)
    write(path / "readme.txt", b"slices")
    return path


def netcdf(
    path: Path, form: str, values: np.ndarray = VALUES, names: tuple[str, ...] = ("tomo_zdim", "tomo_ydim", "tomo_xdim"), coordinates: bool = False
) -> Path:
    import netCDF4

    with netCDF4.Dataset(path, "w", format=form) as file:
        for name, n in zip(names, values.shape):
            file.createDimension(name, n)
        kind = values.dtype if form in ("NETCDF4", "NETCDF3_64BIT_DATA") else np.dtype(values.dtype.str.replace("u2", "i2"))
        variable = file.createVariable("tomo", kind, names)
        variable.set_auto_maskandscale(False)
        variable[:] = values.astype(kind)
        if kind != values.dtype:
            variable.setncattr("_Unsigned", "true")
        if not coordinates:
            file.voxel_size_xyz = np.array(WIDTHS) * 1e3
            file.voxel_unit = "mm"
            return path
        for name, n in zip(names, values.shape):
            axis = file.createVariable(name, "f8", (name,))
            axis.units = "um"
            axis[:] = 40 + WIDTHS["xyz".index(name)] * 1e6 * np.arange(n)
    return path


def netcdf_blocks(folder: Path, form: str, ends: tuple[int, ...] = (2, 3, 5), **changed) -> Path:
    """Files of planes up to these ends, as Mango writes them; changed: other attributes of the last one."""
    import netCDF4

    folder.mkdir()
    for n, (first, end) in enumerate(zip((0, *ends), ends)):
        path = netcdf(folder / f"block{n:08d}.nc", form, VALUES[first:end])
        with netCDF4.Dataset(path, "a") as file:
            file.setncatts({"zdim_range": np.array([first, end - 1], "i4"), "zdim_total": np.int32(SHAPE[0]), "number_of_files": np.int32(len(ends))})
            if end == ends[-1]:
                file.setncatts(changed)
    return folder


def emd(path: Path) -> Path:
    """As tomviz writes it: x is the slowest."""
    with h5py.File(path, "w") as file:
        group = file.create_group("data/tomography")
        group.attrs["emd_group_type"] = np.uint32(1)
        group["data"] = VALUES.transpose(2, 1, 0)
        for n, name in enumerate("xyz"):
            axis = group.create_dataset(f"dim{n + 1}", data=7 + WIDTHS[n] * 1e9 * np.arange(VALUES.shape[2 - n]))
            axis.attrs["name"], axis.attrs["units"] = name, "[n_m]"
    return path


def matlab73(path: Path) -> Path:
    """As MATLAB writes A(i, j, k): the first index is the fastest; behind a block of 512 bytes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file["A"] = VALUES
        file["A"].attrs["MATLAB_class"] = np.bytes_("uint16")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Nov 30 2026 HDF5 schema 1.00 .".ljust(124) + b"\0\x02IM")
    return path


def zarr_array(path: Path, version: int, names: tuple[str, ...] = ("z", "y", "x")) -> Path:
    import zarr

    values = VALUES.transpose(["zyx".index(name) for name in names])
    array = zarr.create_array(
        str(path), shape=values.shape, chunks=(2, 4, 4), dtype="u2", zarr_format=version, dimension_names=names if version == 3 else None
    )
    array[:] = values
    if version == 2:  # as xarray writes them
        array.attrs["_ARRAY_DIMENSIONS"] = list(names)
    return path


def ome_zarr(path: Path, version: int) -> Path:
    """OME-NGFF 0.4 (Zarr 2) and 0.5 (Zarr 3): five axes, two resolutions, a scale for both in all."""
    import zarr

    group = zarr.open_group(str(path), mode="w", zarr_format=version)
    fine = group.create_array("0", shape=(1, 1, *SHAPE), chunks=(1, 1, 2, 4, 4), dtype="u2")
    fine[:] = VALUES[None, None]
    group.create_array("1", shape=(1, 1, 2, 3, 5), chunks=(1, 1, 2, 3, 5), dtype="u2")[:] = 0
    axes = [{"name": "t", "type": "time"}, {"name": "c", "type": "channel"}, *({"name": n, "type": "space", "unit": "micrometer"} for n in "zyx")]
    levels = [{"path": str(n), "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 2.5 * s, 1.5 * s, 1 * s]}]} for n, s in ((0, 1), (1, 2))]
    about = [{"axes": axes, "datasets": levels, "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 2, 2, 2]}], "version": "0.4"}]
    group.attrs.update({"multiscales": about} if version == 2 else {"ome": {"version": "0.5", "multiscales": about}})
    return path


def packed(path: Path, raw: bytes, how: str) -> Path:
    import zstandard

    return write(path, {"bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.ZstdCompressor(write_checksum=True).compress}[how](raw))

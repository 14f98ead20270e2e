# SPDX-License-Identifier: BSD-3-Clause
"""Images of other programs (python/karst/formats): each gives the array that was written, its widths and its axes, or is rejected.

usage: read_formats.py FOLDER_OF_THE_PROGRAMS
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import karst
import numpy as np
import scipy.io
from format_files import (
    BYTES,
    LABELS,
    SHAPE,
    VALUES,
    WIDTHS,
    amira,
    dicom_folder,
    dicom_slice,
    emd,
    matlab73,
    netcdf,
    netcdf_blocks,
    ome_zarr,
    packed,
    vtk_file,
    write,
    zarr_array,
)
from karst.formats import read_image

PROGRAMS = Path(sys.argv.pop(1)).resolve()
MATERIALS = (
    "    Materials {\n        Exterior {\n            Id 1\n        }\n        Clay {\n            Color 1 0 0,\n            Id 2\n        }\n    }\n"
)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)

    def check(self, path, values=VALUES, widths=WIDTHS, unit=True):
        """widths: of the file [m], or their ratios if it names no unit."""
        image = read_image(path)
        found = np.array([image.values[k] for k in range(image.values.shape[0])])
        self.assertEqual(found.shape, values.shape, path)
        np.testing.assert_array_equal(found, values, str(path))
        if widths is None:
            self.assertIsNone(image.widths, path)
        else:
            scale = image.unit if unit else WIDTHS[0] / image.widths[0]
            np.testing.assert_allclose(np.array(image.widths) * scale, widths, rtol=1e-9, err_msg=str(path))
            self.assertEqual(image.unit is not None, unit, path)
        return image

    def rejected(self, path, text):
        with self.assertRaisesRegex(karst.KarstError, text):
            image = read_image(path)
            [image.values[k] for k in range(image.values.shape[0])]


class Amira(InFolder):
    def test_types_byte_orders_and_encodings(self):
        for endian in "<>":
            self.check(amira(self.at / "a.am", VALUES, "ushort", endian))
            self.check(amira(self.at / "a.am", VALUES.astype("f4"), "float", endian))
            self.check(amira(self.at / "a.am", VALUES, "ushort", endian, "HxZip"))
        self.check(amira(self.at / "a.am", BYTES, "byte"), BYTES)
        self.check(amira(self.at / "a.am", VALUES, "ushort", unit=""), unit=False)
        text = '# AmiraMesh 3D ASCII 2.0\ndefine Lattice 11 7 5\nParameters { CoordType "uniform", BoundingBox 0 10 0 9 0 10 }\nLattice { short Data } = @1\n@1\n'
        self.check(write(self.at / "a.am", text.encode(), "\n".join(map(str, VALUES.ravel())).encode()), widths=(2e-6, 3e-6, 5e-6), unit=False)

    def test_labels_name_their_materials(self):
        image = self.check(amira(self.at / "a.am", LABELS, "byte", "<", "HxByteRLE", "Labels", MATERIALS), LABELS)
        self.assertIn("0 Exterior, 1 Clay", image.labels)

    def test_rejected(self):
        path = amira(self.at / "a.am", VALUES, "ushort")
        raw = path.read_bytes()
        for old, new, text in (
            (b'"uniform"', b'"stacked"', "coordinates are stacked"),
            (b"{ ushort Data", b"{ complex Data", "type complex"),
            (b"define Lattice 11", b"define Lattice 12", "ends early"),
            (b"{ ushort Data", b"{ ushort[3] Data", "no array of one component"),
            (b"    BoundingBox", b"    TransformationMatrix 2 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1,\n    BoundingBox", "scales or shears"),
            (b"define Lattice 11", b"define Lattice 10", "other bytes follow"),
        ):
            self.rejected(write(path, raw.replace(old, new)), text)
        self.rejected(write(path, raw[:-20]), "ends early")
        self.rejected(str(path) + ":Nothing", "no array Nothing")


class LegacyVtk(InFolder):
    def test_points_and_cells_text_and_binary(self):
        for kind in (np.uint16, np.float32, np.float64, np.int64):
            for cells in (False, True):
                for binary in (False, True):
                    self.check(vtk_file(self.at / "a.vtk", VALUES.astype(kind), cells, binary), unit=False)

    def test_old_headers(self):
        head = "# vtk DataFile Version 2.0\n\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 11 7 5\nORIGIN 0 0 0\nASPECT_RATIO 2 3 5\nPOINT_DATA 385\n"
        bits = VALUES % 3 == 0
        self.check(write(self.at / "a.vtk", (head + "SCALARS s bit\nLOOKUP_TABLE default\n").encode(), np.packbits(bits).tobytes()), bits, unit=False)
        both = (
            (head + "VECTORS v float\n").encode()
            + bytes(12 * 385)
            + b"\nFIELD f 2\none 1 385 unsigned_char\n"
            + BYTES.tobytes()
            + b"\ntwo 1 385 unsigned_char\n"
            + bytes(385)
        )
        self.check(str(write(self.at / "a.vtk", both)) + ":one", BYTES, unit=False)
        self.rejected(self.at / "a.vtk", "state which array is the image")

    def test_rejected(self):
        path = vtk_file(self.at / "a.vtk", VALUES)
        raw = path.read_bytes()
        self.rejected(write(path, raw[:-600]), "ends early")
        self.rejected(write(path, raw.replace(b"STRUCTURED_POINTS", b"POLYDATA")), "data set is POLYDATA")
        self.rejected(write(path, raw.replace(b"DIMENSIONS 11", b"DIMENSIONS 12")), "385 values, its points are 12 x 7 x 5")


class Dicom(InFolder):
    def test_slices_in_the_order_of_their_positions(self):
        image = self.check(dicom_folder(self.at / "d"))
        self.assertTrue(any("4" in note and "0.005 mm apart" in note for note in image.notes), image.notes)  # SliceThickness differs
        image = self.check(dicom_folder(self.at / "e", slope=2, intercept=-1000), VALUES.astype(int) * 2 - 1000)
        self.assertIn("its rescale is applied: values are -1000 + 2 times the stored values", image.notes)
        self.check(dicom_folder(self.at / "f", ImageOrientationPatient=[0, 1, 0, 1, 0, 0]), VALUES[::-1])  # the normal is -z
        self.check(dicom_slice(self.at / "g.dcm", VALUES, 0, SliceThickness=5e-3))
        image = self.check(dicom_folder(self.at / "h", ImagePositionPatient=None), VALUES[::-1], (2e-6, 3e-6, 4e-6))
        self.assertIn("in the order of InstanceNumber", " ".join(image.notes))

    def test_rejected(self):
        folder = dicom_folder(self.at / "d")
        first = folder / "IM0"
        dicom_slice(first, VALUES[0], 0, position=-0.001)
        self.rejected(folder, "not uniform")
        dicom_slice(first, VALUES[0], 0, position=0.005)
        self.rejected(folder, "same position")
        dicom_slice(first, VALUES[0], 0, PixelSpacing=[1, 1])
        self.rejected(folder, "different pixel widths")
        dicom_slice(first, VALUES[0], 0, series="1.2.9")
        self.rejected(folder, "2 series")
        self.check(f"{folder}:1.2.3", VALUES[1:])
        dicom_slice(first, VALUES[0], 0, ImagePositionPatient=[9, 2, 0])
        self.rejected(folder, "sheared")
        dicom_slice(first, VALUES[0], 0, PhotometricInterpretation="RGB", SamplesPerPixel=3)
        self.rejected(folder, "only gray images")


class NetCdf(InFolder):
    def test_forms_and_axes(self):
        for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
            self.check(netcdf(self.at / "a.nc", form))
            self.check(netcdf(self.at / "a.nc", form, names=("z", "y", "x"), coordinates=True))
        image = self.check(netcdf(self.at / "a.nc", "NETCDF3_CLASSIC", VALUES.transpose(2, 0, 1), ("x", "z", "y"), True))
        self.assertIn("its axes are called x, z, y", image.notes[0])
        self.rejected(netcdf(self.at / "a.nc", "NETCDF3_CLASSIC", names=("x", "b", "c")), "unclear")
        path = netcdf(self.at / "a.nc", "NETCDF3_CLASSIC")
        self.rejected(write(path, path.read_bytes()[:-100]), "ends early")

    def test_wide_files_that_end_early(self):
        import netCDF4

        path = netcdf(self.at / "wide.nc", "NETCDF3_64BIT_DATA")
        self.rejected(write(path, path.read_bytes()[:-4]), "ends early: an array of 5 x 7 x 11 values at byte .* needs")
        with netCDF4.Dataset(self.at / "g.nc", "w", format="NETCDF3_64BIT_DATA") as file:  # z grows
            for name, n in zip("zyx", (None, *SHAPE[1:])):
                file.createDimension(name, n)
            file.createVariable("a", "u2", tuple("zyx"))[:] = VALUES
            file.createVariable("t", "f8", ("z",))[:] = np.arange(SHAPE[0])
        raw = (self.at / "g.nc").read_bytes()
        self.check(self.at / "g.nc", widths=None)
        self.rejected(write(self.at / "g.nc", raw[:-9]), "ends early: an array of 5 records")

    def test_blocks_are_put_together(self):
        for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"):
            image = self.check(netcdf_blocks(self.at / form, form))
            self.assertEqual(image.format, "NetCDF in 3 blocks")
        folder = self.at / "NETCDF3_CLASSIC"
        self.rejected(folder / "block00000001.nc", "has the planes 2 to 2 of 5 of an image in blocks: put all of its files into one folder")
        (folder / "block00000001.nc").rename(self.at / "away.nc")
        self.rejected(folder, "has the planes 3 to 4, and plane 2 is the next that is needed")
        self.rejected(netcdf_blocks(self.at / "a", "NETCDF4", (2, 4)), "have 4 of 5 planes")
        self.rejected(netcdf_blocks(self.at / "b", "NETCDF4", zdim_total=np.int32(6)), "of an image of 6 planes|of an image of 5 planes")
        self.rejected(netcdf_blocks(self.at / "c", "NETCDF4", voxel_unit="um"), "different voxel sizes")
        self.rejected(netcdf_blocks(self.at / "d", "NETCDF4", zdim_range=np.array([3, 3], "i4")), "have 4 of 5 planes")
        self.rejected(netcdf_blocks(self.at / "e", "NETCDF4", zdim_range=np.array([3, 5], "i4"), zdim_total=np.int32(6)), "image of")
        (self.at / "f").mkdir()
        netcdf(self.at / "f/block00000000.nc", "NETCDF4")
        self.rejected(self.at / "f", "states no zdim_range and zdim_total")


class Matlab(InFolder):
    def test_version_4_has_one_plane(self):
        path = self.at / "a.mat"
        for values in (VALUES[0], VALUES[0].astype("f8"), BYTES[0], VALUES[0].astype("i4")):
            scipy.io.savemat(path, {"A": values.T, "text": "rock", "dx": 2e-6}, format="4")
            self.assertIn("the first index is x", self.check(path, values[None], None).notes[0])
        scipy.io.savemat(path, {"A": VALUES[0], "B": VALUES[0]}, format="4")
        self.rejected(path, "state which array is the image, for example .*:A; the file has A .11 x 7., B")
        self.rejected(write(path, path.read_bytes()[:-1]), "first bytes are of none of these formats")

    def test_the_first_index_is_x(self):
        path = self.at / "a.mat"
        for packs in (False, True):
            scipy.io.savemat(path, {"A": VALUES.transpose(2, 1, 0), "dx": 2e-6, "text": "rock"}, do_compression=packs)
            self.assertIn("the first index is x", self.check(path, widths=None).notes[0])
        scipy.io.savemat(path, {"A": (VALUES % 3 == 0).transpose(2, 1, 0)})
        self.check(path, VALUES % 3 == 0, None)
        scipy.io.savemat(path, {"A": VALUES[0].T})
        self.check(path, VALUES[:1], None)
        scipy.io.savemat(path, {"A": VALUES, "B": VALUES})
        self.rejected(path, "state which array is the image, for example .*:A; the file has A .11 x 7 x 5., B")
        scipy.io.savemat(path, {"A": VALUES})
        self.rejected(write(path, path.read_bytes()[:-100]), "ends early")


class Zarr(InFolder):
    def test_versions(self):
        for version in (2, 3):
            self.check(zarr_array(self.at / f"a{version}", version), widths=None)
            image = self.check(zarr_array(self.at / f"x{version}", version, ("x", "y", "z")), widths=None)
            self.assertIn("its axes are called x, y, z", image.notes[0])
            image = self.check(ome_zarr(self.at / f"o{version}", version))
            self.assertIn("has 2 resolutions: 0, the first, is read", image.notes)

    def test_a_missing_chunk_is_reported(self):
        path = zarr_array(self.at / "a", 2)
        (path / "0.0.0").unlink()
        image = self.check(path, np.where(np.add.reduce([n >= m for n, m in zip(np.indices(SHAPE), (2, 4, 4))]) > 0, VALUES, 0), None)
        self.assertIn("1 of its 18 chunks are not in the folder: their voxels have the fill value 0", image.notes)
        write(path / "1.0.0", b"damaged")
        self.rejected(path, "a chunk is damaged")

    def test_rejected(self):
        path = ome_zarr(self.at / "a", 2)
        about = json.loads((path / ".zattrs").read_text())
        for old, new, text in (('"scale", ', '"affine", ', "type affine"), ('"scale": [1, 1, 2.5', '"scale": [1, 2.5', "5 numbers")):
            write(path / ".zattrs", json.dumps(about).replace(f'"type": {old}', f'"type": {new}').replace(old, new).encode())
            self.rejected(path, text)


class Import(InFolder):
    """The command itself: C++ reads NetCDF-4 and MATLAB 7.3, and starts Python for the others."""

    def geometry(self, image, *options):
        result, report = self.at / "result.h5", self.at / "result.json"
        done = subprocess.run(
            [PROGRAMS / "karst", "import", image, "-o", result, "--overwrite", "--page", "none", "--json", report, "--threshold", "1300", *options],
            capture_output=True,
            text=True,
            env={**os.environ, "KARST_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"},
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([p.name for p in self.at.iterdir() if ".tmp." in p.name], [])
        with h5py.File(result) as file:
            return file["level_set"][:], file["wall_distance"][:], float(file.attrs["voxel"]), json.loads(report.read_text()), done.stdout

    def test_geometry_is_that_of_the_array(self):
        np.save(self.at / "reference.npy", VALUES)
        level_set, distance, voxel, _, _ = self.geometry(self.at / "reference.npy", "--spacing", "2e-6,3e-6,5e-6")
        self.assertAlmostEqual(voxel, 2e-6)
        scipy.io.savemat(self.at / "m.mat", {"A": VALUES.transpose(2, 1, 0)})
        x, y, z = VALUES.transpose(2, 1, 0).shape
        stated = (
            amira(self.at / "a.am", VALUES, "ushort"),
            dicom_folder(self.at / "d"),
            netcdf(self.at / "n.nc", "NETCDF3_CLASSIC"),
            ome_zarr(self.at / "o", 3),
            netcdf(self.at / "n4.nc", "NETCDF4"),
            netcdf_blocks(self.at / "blocks", "NETCDF3_CLASSIC"),
            emd(self.at / "e.emd"),
            *(
                netcdf(self.at / f"t{''.join(names)}.nc", "NETCDF4", VALUES.transpose(["zyx".index(n) for n in names]), names, True)
                for names in (("x", "y", "z"), ("y", "z", "x"))
            ),
        )
        ratios = vtk_file(self.at / "v.vtk", VALUES)
        bare = (self.at / "m.mat", matlab73(self.at / "m73.mat"), zarr_array(self.at / "z", 2))
        plain = (
            packed(self.at / "p.raw.bz2", VALUES.tobytes(), "bz2"),
            packed(self.at / "p.raw.xz", VALUES.tobytes(), "xz"),
            packed(self.at / "p.npy.zst", (self.at / "reference.npy").read_bytes(), "zst"),
        )
        for image, options in (
            *((f, []) for f in stated),
            (ratios, ["--voxel", "2um"]),
            *((f, ["--spacing", "2e-6,3e-6,5e-6"]) for f in (*bare, plain[2])),
            *((f, ["--spacing", "2e-6,3e-6,5e-6", "--size", f"{x}x{y}x{z}", "--type", "uint16"]) for f in plain[:2]),
        ):
            found = self.geometry(image, *options)
            np.testing.assert_array_equal(found[0], level_set, str(image))
            np.testing.assert_array_equal(found[1], distance, str(image))
            self.assertAlmostEqual(found[2], voxel, 12, image)

    def test_what_is_found_is_said(self):
        *_, report, out = self.geometry(amira(self.at / "rock.tif", VALUES, "ushort"))
        self.assertIn("rock.tif: an AmiraMesh file by its first bytes; read by Python (karst.formats)", out)
        self.assertEqual(report["file"], "rock.tif")
        *_, report, out = self.geometry(dicom_folder(self.at / "d"))
        self.assertIn("0.005 mm apart", out)

    def test_messages(self):
        rock = amira(self.at / "rock.am", VALUES, "ushort")
        for python, package, text in (
            ("nowhere", "", "nowhere: cannot be started"),
            (sys.executable, "import no_such_module", "has no package no_such_module, with which it is read"),
        ):
            write(self.at / "h5py.py", package.encode() or b"")
            done = subprocess.run(
                [PROGRAMS / "karst", "import", rock, "-o", self.at / "r.h5"],
                capture_output=True,
                text=True,
                env={**os.environ, "KARST_PYTHON": python, "PYTHONPATH": str(self.at)},
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(text, done.stdout + done.stderr)
        block = netcdf_blocks(self.at / "b", "NETCDF4") / "block00000000.nc"
        with self.assertRaisesRegex(karst.RunError, "has 2 of 5 planes of an image in blocks"):
            karst.import_image(block, self.at / "r.h5", program=PROGRAMS / "karst")
        write(rock, rock.read_bytes()[:-50])
        with self.assertRaisesRegex(karst.RunError, "rock.am: ends early"):
            karst.import_image(rock, self.at / "r.h5", program=PROGRAMS / "karst")
        self.assertEqual([path.name for path in self.at.iterdir() if ".tmp." in path.name], [])
        done = subprocess.run([PROGRAMS / "karst", "run", rock], capture_output=True, text=True)
        self.assertIn("only `karst import` reads it", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""Damages images of the formats that karst.formats reads: formats.py [COUNT [SEED]]

COUNT variants of each (40): cut short, bytes changed, removed, inserted, blocks exchanged. Each has to be rejected with a KarstError, or give an
image; one that was cut short may give only the image that it held. All else is a failure: a crash, more than 5 s, more than 2 GiB, another
exception. NetCDF-4 and MATLAB 7.3 are read by karst-read-images, if its path is in KARST_READ_IMAGES.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.io

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "checks"))
from format_files import (  # noqa: E402
    BYTES, LABELS, VALUES, amira, dicom_folder, dicom_slice, emd, matlab73, netcdf, netcdf_blocks, ome_zarr, packed, vtk_file, zarr_array,
)
from karst.error import KarstError  # noqa: E402
from karst.formats import compression_of, read_image  # noqa: E402
from karst.formats.packed import unpack  # noqa: E402

FAILURES = ("SILENT", "EXCEPTION", "MEMORY", "CRASH", "HANG")


def samples(folder):
    """What is opened, and the file of it that is damaged."""
    scipy.io.savemat(folder / "a.mat", {"A": VALUES.transpose(2, 1, 0), "dx": 2e-6})
    scipy.io.savemat(folder / "z.mat", {"A": VALUES.transpose(2, 1, 0)}, do_compression=True)
    scipy.io.savemat(folder / "old.mat", {"A": VALUES[0].T, "dx": 2e-6}, format="4")
    alone = [
        amira(folder / "raw.am", VALUES, "ushort"),
        amira(folder / "zip.am", VALUES, "ushort", "<", "HxZip"),
        amira(folder / "rle.am", LABELS, "byte", "<", "HxByteRLE", "Labels"),
        vtk_file(folder / "b.vtk", VALUES),
        vtk_file(folder / "t.vtk", VALUES, True, False),
        folder / "a.mat",
        folder / "z.mat",
        folder / "old.mat",
        dicom_slice(folder / "m.dcm", VALUES, 0),
        netcdf(folder / "a.nc", "NETCDF3_CLASSIC"),
        netcdf(folder / "w.nc", "NETCDF3_64BIT_DATA"),
        netcdf(folder / "c.nc", "NETCDF3_64BIT_OFFSET", names=("z", "y", "x"), coordinates=True),
        *(packed(folder / f"p.raw.{how}", BYTES.tobytes(), how) for how in ("bz2", "xz", "zst")),
    ]
    blocks, blocks4 = netcdf_blocks(folder / "b3", "NETCDF3_CLASSIC"), netcdf_blocks(folder / "b4", "NETCDF4")
    dicom, plain, ome = dicom_folder(folder / "d"), zarr_array(folder / "p3", 3), ome_zarr(folder / "o2", 2)
    return [
        *((path, path) for path in alone),
        (dicom, dicom / "IM3"),
        (blocks, blocks / "block00000001.nc"),
        (blocks4, blocks4 / "block00000002.nc"),
        (plain, plain / "zarr.json"),
        (plain, plain / "c/0/0/0"),
        (ome, ome / ".zattrs"),
        (ome, ome / "0/.zarray"),
    ]


def damaged(raw, dice):
    """Bytes of a variant, and whether it is only cut short."""
    data = bytearray(raw)
    kind = dice.randrange(6)
    if kind == 0:
        return bytes(data[: dice.randrange(len(data))]), True
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.choice((dice.randrange(len(data)), dice.randrange(min(len(data), 600))))  # headers are in front
        length = dice.choice((1, 1, 4, 30))
        if kind == 1:
            data[at : at + length] = bytes(dice.randrange(256) for _ in data[at : at + length])
        elif kind == 2:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 3:
            del data[at : at + length]
        elif kind == 4:
            data[at:at] = dice.choice((b"\0", b"9", b"-", b"\xff" * 4, bytes(30), b"99999999"))
        else:
            data[at : at + length] = dice.choice((b"\xff\xff\xff\x7f", b"\xff" * 8, b"9" * 12))[:length]
        if not data:
            data = bytearray(b"\0")
    return bytes(data), False


def values_of(path, folder):
    kind = compression_of(path)
    if kind:
        unpack(path, kind, folder / "unpacked")
        return np.frombuffer((folder / "unpacked").read_bytes(), np.uint8)
    image = read_image(path)
    if np.prod(image.values.shape, dtype=object) > 10**8:
        raise MemoryError
    return np.array([image.values[k] for k in range(image.values.shape[0])])


def outcome(opened, folder, expected, cut):
    try:
        found = values_of(opened, folder)
    except KarstError:
        return "rejected"
    except MemoryError:
        return "MEMORY"
    except Exception as error:
        return f"EXCEPTION {type(error).__name__}: {error}"
    same = found.shape == expected.shape and np.array_equal(found, expected)
    return "same" if same else "SILENT" if cut else "other values"


def read_from(n, variants, there, opened, file, folder, expected):
    """Reads variants from the n-th on, in a process that may be ended; a line for each."""
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stderr = open(os.devnull, "w")
    for data, cut in variants[n:]:
        file.write_bytes(data)
        signal.setitimer(signal.ITIMER_VIRTUAL, 5)
        said = outcome(opened, folder, expected, cut and file == opened)
        os.write(there, said.replace("\n", " ")[:400].encode() + b"\n")
    os._exit(0)


def outcomes(variants, *what):
    """One for each variant; a process that dies is begun anew behind the variant that killed it."""
    said = []
    while len(said) < len(variants):
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            read_from(len(said), variants, there, *what)
        os.close(there)
        with os.fdopen(here, "rb") as pipe:
            said += pipe.read().decode("utf-8", "replace").splitlines()
        status = os.waitpid(child, 0)[1]
        if len(said) < len(variants):
            said.append("HANG" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGVTALRM else f"CRASH (status {status})")
    return said


def campaign(opened, file, folder, count, seed):
    dice, raw, expected, found = random.Random(f"{seed} {file.name}"), file.read_bytes(), values_of(opened, folder), Counter()
    variants = [damaged(raw, dice) for _ in range(count)]
    for n, said in enumerate(outcomes(variants, opened, file, folder, expected)):
        failed = said.startswith(FAILURES)
        found[said.split()[0] if failed else said] += 1
        if failed:
            kept = Path(f"damaged_{n}_{file.name}")
            kept.write_bytes(variants[n][0])
            print(f"{kept}: {said}")
    file.write_bytes(raw)
    return found


def by_the_program(folder, count, seed):
    """HDF5 of other programs, read in C++."""
    paths = []
    for file in (
        netcdf(folder / "n4.nc", "NETCDF4"),
        netcdf(folder / "c4.nc", "NETCDF4", names=("z", "y", "x"), coordinates=True),
        matlab73(folder / "m73.mat"), emd(folder / "e.emd"),
    ):
        dice, raw = random.Random(f"{seed} {file.name}"), file.read_bytes()
        for n in range(10 * count):
            paths.append(folder / f"{n}_{file.name}")
            paths[-1].write_bytes(damaged(raw, dice)[0])
    done = subprocess.run([os.environ["KARST_READ_IMAGES"]], input="\n".join(map(str, paths)) + "\n", capture_output=True, text=True, check=True)
    found = Counter()
    for path, line in zip(paths, done.stdout.splitlines(), strict=True):
        said = json.loads(line)
        found["CRASH" if "crash" in said else "rejected" if "error" in said else "read"] += 1
        if "crash" in said:
            print(f"{shutil.copy(path, f'damaged_{path.name}')}: {said['crash']}")
    return found


def main():
    count, seed = (int(sys.argv[n]) if len(sys.argv) > n else usual for n, usual in ((1, 40), (2, 1)))
    warnings.simplefilter("ignore")
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [(file.relative_to(folder), campaign(opened, file, folder, count, seed)) for opened, file in samples(folder)]
        if "KARST_READ_IMAGES" in os.environ:
            rows.append(("NetCDF-4, EMD, MATLAB 7.3", by_the_program(folder, count, seed)))
        for file, found in rows:
            print(f"{file}: " + ", ".join(f"{n} {what}" for what, n in found.items()))
            failures += sum(found[what] for what in FAILURES)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

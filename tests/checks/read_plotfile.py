# SPDX-License-Identifier: BSD-3-Clause
"""Opens plotfiles with h5py, VTK and yt and compares every value, box and spacing with those written.

usage: read_plotfile.py [--full] WRITER DIRECTORY [MPIRUN ...]    WRITER is the program write_plotfiles

In short samples of SHORT, which have what the others have; with --full all.
"""
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import vtk
import yt
from karst.yt import add_yt
from vtk.util.numpy_support import vtk_to_numpy

WIDTH = 2.5e-6  # cell width of level 0 [m], as in tests/support/plot_samples.hpp


def value(level, lo, size, component):
    """Values of a box, x fastest: 7 i + 131 j + 1031 k + 100003 c + 1000003 l."""
    k, j, i = np.meshgrid(*[lo[d] + np.arange(size[d]) for d in (2, 1, 0)], indexing="ij")
    return (7 * i + 131 * j + 1031 * k + 100003 * component + 1000003 * level).astype(np.float32)


def names_of(components):
    """Of scalars, and whether the last three components are a vector; as in tests/support/plot_samples.hpp."""
    vector = components >= 3
    return [f"field_{c}" for c in range(components - 3 if vector else components)], vector


def boxes_of(file, level):
    """lo (n, 3) and size (n, 3) of the boxes in file order."""
    b = file[f"level_{level}/boxes"][:]
    lo = np.stack([b[f"lo_{d}"] for d in "ijk"], axis=1)
    hi = np.stack([b[f"hi_{d}"] for d in "ijk"], axis=1)
    return lo, hi - lo + 1


def expected_boxes(cells, box, level):
    """The boxes write_plotfiles is asked for, in no order."""
    cells = np.array(cells) * 2**level
    half = (cells + 1) // 2
    found = set()
    for lo in np.ndindex(*(-(-cells // box))):
        lo = np.array(lo) * box
        hi = np.minimum(lo + box, cells)
        diagonal = int(lo[0] + 2 * lo[1] + 4 * lo[2]) // box
        if diagonal % 3 != 1 if level == 0 else (hi[:2] <= half[:2]).all():
            found.add((*lo.tolist(), *(hi - lo).tolist()))
    return found


def check_layout(path, cells, box, levels, components):
    """The Chombo part by h5py: boxes, owners, offsets, names and provenance."""
    with h5py.File(path) as file:
        assert file.attrs["num_levels"] == levels and file.attrs["num_components"] == components
        assert file.attrs["title"] == b"sample" and file.attrs["karst_version"] == b"test"
        for level in range(levels):
            lo, size = boxes_of(file, level)
            assert {(*a, *s) for a, s in zip(lo.tolist(), size.tolist())} == expected_boxes(cells, box, level)
            names, vector = names_of(components)
            arrays = file[f"VTKHDF/Level{level}/CellData"]
            assert [arrays[name].attrs["units"] for name in names] == [b"Pa"] * len(names)
            assert not vector or arrays["vector"].attrs["units"] == b"m/s"
            offsets = file[f"level_{level}/data:offsets=0"][:]
            assert (np.diff(offsets) == size.prod(axis=1) * components).all() and offsets[0] == 0
            data = file[f"level_{level}/data:datatype=0"]
            assert data.dtype == np.float32 and data.shape == (offsets[-1],)
            values = data[:]
            for b in range(len(lo)):
                want = [value(level, lo[b], size[b], c).ravel() for c in range(components)]
                assert (values[offsets[b] : offsets[b + 1]] == np.concatenate(want)).all(), (path, level, b)


def covered_by_finer(lo, size, finer):
    """True for cells of a box that a box of the next level covers."""
    mask = np.zeros(size[::-1], bool)
    for flo, fsize in zip(*finer):
        a = np.maximum(flo // 2 - lo, 0)
        b = np.minimum((flo + fsize) // 2 - lo, size)
        if (b > a).all():
            mask[a[2] : b[2], a[1] : b[1], a[0] : b[0]] = True
    return mask


def check_vtk(path, components):
    """The VTKHDF part by VTK's reader: as many boxes, each with its place, spacing, values and hidden cells."""
    with h5py.File(path) as file:
        boxes = [boxes_of(file, level) for level in range(file.attrs["num_levels"])]
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.SetMaximumLevelsToReadByDefaultForAMR(0)
    reader.Update()
    amr = reader.GetOutputDataObject(0)
    assert amr.GetClassName() == "vtkOverlappingAMR", amr.GetClassName()
    assert amr.GetNumberOfLevels() == len(boxes)
    for level, (lo, size) in enumerate(boxes):
        count = amr.GetNumberOfBlocks(level) if hasattr(amr, "GetNumberOfBlocks") else amr.GetNumberOfDataSets(level)
        assert count == len(lo)
        h = WIDTH / 2**level
        for b in range(count):
            grid = amr.GetDataSetAsImageData(level, b)
            assert np.allclose(grid.GetSpacing(), h, rtol=1e-12)
            assert np.allclose(grid.GetOrigin(), lo[b] * h, rtol=1e-12, atol=1e-9 * h)
            assert tuple(np.array(grid.GetDimensions()) - 1) == tuple(size[b])
            names, vector = names_of(components)
            have = [vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in names]
            if vector:
                have += list(vtk_to_numpy(grid.GetCellData().GetArray("vector")).T)
            for c in range(components):
                assert (have[c] == value(level, lo[b], size[b], c).ravel()).all(), (path, level, b, c)
            flags = vtk_to_numpy(grid.GetCellData().GetArray("vtkGhostType"))
            finer = boxes[level + 1] if level + 1 < len(boxes) else ([], [])
            covered = covered_by_finer(lo[b], size[b], finer).ravel()
            assert ((flags & 8 != 0) == covered).all(), (path, level, b)
            k, j, i = np.meshgrid(*[lo[b][d] + np.arange(size[b][d]) for d in (2, 1, 0)], indexing="ij")
            assert ((flags & 32 != 0) == (i + j == k).ravel()).all(), (path, level, b)


def check_yt(path, cells, components):
    """The Chombo part by yt, without any units_override: every grid's place, width in metres and values."""
    yt.set_log_level("error")
    data = yt.load(str(path))
    assert data.dataset_type == "chombo_hdf5", data.dataset_type
    assert (data.domain_dimensions == cells).all()
    assert float(data.current_time) == 0.125
    assert np.allclose(data.domain_right_edge.to("m").d, np.array(cells) * WIDTH, rtol=1e-12)
    with h5py.File(path) as file:
        n = sum(len(file[f"level_{level}/boxes"]) for level in range(file.attrs["num_levels"]))
    assert len(data.index.grids) == n
    for grid in data.index.grids:
        h = WIDTH / 2**grid.Level
        lo = np.rint(grid.LeftEdge.to("m").d / h).astype(int)
        names, vector = names_of(components)
        for c, name in enumerate(names + ["vector_x", "vector_y", "vector_z"] * vector):
            have = np.asarray(grid["chombo", name].d)
            want = value(grid.Level, lo, grid.ActiveDimensions, c).transpose(2, 1, 0)
            assert have.shape == want.shape and (have == want).all(), (path, grid, c)


def check_added_yt(path, cells, components):
    """What the Python package makes of a file without the Chombo part."""
    without = path.with_name(f"without_{path.name}")
    without.write_bytes(path.read_bytes())
    with h5py.File(without, "r+") as file:
        for name in [name for name in file if name.startswith(("level_", "Chombo"))]:
            del file[name]
        for name in [name for name in file.attrs if name.startswith(("component_", "filetype", "num_", "max_"))]:
            del file.attrs[name]
    add_yt(without)
    check_yt(without, cells, components)


# name, cells of level 0, box, levels, components, parts
SAMPLES = [
    ("one_box", (8, 8, 8), 8, 1, 1, 1),
    ("cube", (32, 32, 32), 8, 1, 2, 1),
    ("clipped", (37, 22, 19), 8, 1, 5, 1),
    ("levels", (40, 24, 20), 8, 3, 2, 1),
    ("thin", (45, 30, 1), 16, 1, 2, 1),
    ("smaller_than_a_box", (5, 3, 2), 8, 1, 1, 1),
    ("two_parts", (37, 22, 19), 8, 2, 5, 2),
    ("three_parts", (40, 24, 20), 8, 3, 4, 3),
]
SHORT = ("clipped", "thin", "smaller_than_a_box", "three_parts")
COMPRESSION, BUFFER = 1, 64 << 20


def main():
    full = sys.argv[1] == "--full"
    writer, directory, *mpirun = sys.argv[2 if full else 1:]
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, cells, box, levels, components, parts in SAMPLES:
        if name not in SHORT and not full:
            continue
        path = directory / f"{name}.vtkhdf"
        subprocess.run([*mpirun, writer, path, *map(str, (*cells, box, levels, components, COMPRESSION, BUFFER, parts))], check=True)
        assert len(list(directory.glob(f"{name}.vtkhdf.part*"))) == (parts if parts > 1 else 0)
        check_layout(path, cells, box, levels, components)
        check_vtk(path, components)
        check_yt(path, cells, components)
        if parts == 1:
            check_added_yt(path, cells, components)
        print(name, "read exactly by h5py, VTK and yt", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB files before 7.3 (.mat v4, v5, v6, v7) through SciPy. Those of 7.3 are HDF5, which karst reads itself."""
from pathlib import Path

import numpy as np

from karst.error import KarstError
from karst.formats.image import Image, choose, require

CLASSES = ("double", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def read_matlab(path: Path, name: str | None) -> Image:
    import scipy.io
    try:
        arrays = {n: shape for n, shape, kind in scipy.io.whosmat(path) if kind in CLASSES and len(shape) in (2, 3)}
    except Exception as error:
        raise KarstError(f"{path}: ends early or is damaged: it cannot be read as a MATLAB file ({error})") from None
    chosen = choose(path, name, {n: shape[::-1] for n, shape in arrays.items()})
    count = int(np.prod(arrays[chosen], dtype=object))
    require(0 < count <= 1100 * path.stat().st_size, f"{path}: its array {chosen} of {count} values does not fit into the file of {path.stat().st_size} bytes")
    try:
        values = np.asarray(scipy.io.loadmat(path, variable_names=[chosen])[chosen])
    except Exception as error:
        raise KarstError(f"{path}: its array {chosen} ends early or is damaged ({error})") from None
    require(values.shape == tuple(arrays[chosen]) and values.dtype.kind in "biuf", f"{path}: its array {chosen} holds {values.dtype}; real numbers are needed")
    image = Image(np.transpose(values).reshape((*values.shape, 1)[2::-1]), "MATLAB", note="MATLAB states no widths")
    image.notes.append("of the MATLAB array A(i, j, k) the first index is x, the second y, the third z. If its first index is the row of a picture, as imread "
                       "gives them, `axes = yxz` exchanges x and y")
    return image

# SPDX-License-Identifier: BSD-3-Clause
"""Geometry files, written by `karst import`, and by runs with walls that move (output.geometry)."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from karst.error import KarstError
from karst.units import axis_number

OUTSIDE = 255  # phase of voxels outside of the sample


class Geometry:
    """A geometry file (HDF5). Arrays are indexed [k, j, i], z first.

        rock = Geometry("rock.h5")
        rock.voxel, rock.shape, rock.size    width [m]; voxels (nz, ny, nx); edges along x, y, z [m]
        rock.centres("x")                    voxel centres [m]
        rock.porosity                        of the smooth wall
        rock.phases                          {"pore": 0, "quartz": 1, ...}
        rock.level_set()                     distance to the wall near it, > 0 in the pore [voxels]
        rock.phase()                         0 pore, 1 ... solids, 255 outside of the sample
        rock.wall_distance()                 of pore voxels, 0 in the solid [voxels]; of imports
        rock.warnings, rock.provenance       warnings of the import; provenance of the file
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            with h5py.File(path) as file:
                attributes = dict(file.attrs)
                if "karst_geometry" not in attributes or "level_set" not in file:
                    raise KarstError(f"{path}: is an HDF5 file but not a geometry file; create one with karst.import_image()")
                self.shape: tuple[int, int, int] = file["level_set"].shape
        except OSError as error:
            raise KarstError(f"{path}: cannot be read as HDF5 ({error}); create a geometry file with karst.import_image()") from None
        texts = {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in attributes.items()}
        self.voxel = float(attributes["voxel"])
        self.porosity = float(attributes["level_set_porosity"])
        self.voxel_porosity = float(attributes["porosity"])
        self.provenance: dict[str, Any] = json.loads(texts.get("provenance", "{}"))
        self.phases: dict[str, int] = {phase["name"]: phase["label"] for phase in json.loads(texts.get("phases", "[]"))}
        self.shares: dict[str, float] = {phase["name"]: phase["share"] for phase in json.loads(texts.get("phases", "[]"))}

    @property
    def size(self) -> np.ndarray:
        """Edges along x, y, z [m]."""
        return np.array(self.shape[::-1]) * self.voxel

    @property
    def spacing(self) -> np.ndarray:
        """Voxel widths along x, y, z [m]."""
        return np.full(3, self.voxel)

    def centres(self, axis: int | str) -> np.ndarray:
        """Voxel centres along an axis [m]."""
        return (np.arange(self.shape[2 - axis_number(axis)]) + 0.5) * self.voxel

    @property
    def warnings(self) -> list[str]:
        return list(self.provenance.get("warnings", []))

    def _array(self, name: str, part: Any) -> np.ndarray:
        with h5py.File(self.path) as file:
            if name not in file:
                raise KarstError(f"{self.path}: has no array '{name}': it is older, or of walls that move (output.geometry); import the image again")
            try:
                return file[name][part]
            except (IndexError, ValueError, TypeError) as error:
                raise KarstError(f"{self.path}: the part {part!r} is not in the array '{name}' of the shape {self.shape} ({error})") from None

    def level_set(self, part: Any = ...) -> np.ndarray:
        """φ at voxel centres [voxels], > 0 in the pore; `part`: indices of h5py, such as np.s_[10] for one plane."""
        return self._array("level_set", part)

    def phase(self, part: Any = ...) -> np.ndarray:
        """Labels of the phases (uint8, see phases); 255 outside of the sample."""
        return self._array("phase", part)

    def wall_distance(self, part: Any = ...) -> np.ndarray:
        """Distance of pore voxels to the wall [voxels], 0 in the solid."""
        return self._array("wall_distance", part)

    def __repr__(self) -> str:
        nz, ny, nx = self.shape
        return f"{self.path}: {nx} x {ny} x {nz} voxels of {self.voxel:.4g} m, porosity {self.porosity:.4f}, phases {', '.join(self.phases)}"

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random crops, 16 to 48 voxels along each side, of generated rocks and, if available, of segmented scans (see rocks.py): for
any crop a run along all axes succeeds, and each axis has a permeability that is 0 where the pores do not percolate and that of
a flow elsewhere, never the remainder of a solve. Crops of a single phase are among them.

    random_crops.py --program KARST --mpiexec MPIEXEC --generator KARST_MAKE_IMAGE [--crops N] [--seed S] [--longest L]

Percolation is determined independently of Karst: the permeability must be 0 along an axis without a chain of pore voxels that
touch at faces, edges or corners. A pore one voxel wide and 48 long gives 1.5e-5 voxels² in a crop 48 wide; 1e-7 counts as 0.
"""
import json
import random
import sys
import tempfile
from itertools import product
from pathlib import Path

from error_crops import ROCKS, crop_of_rock, generated
from support import Karst, parser

SMALLEST_FLOW = 1e-7  # of a permeability [voxels²]


def leads_through(voxels, n, axis):
    """Whether pore voxels (0) lead from end to end, those that touch in a corner among them."""
    at = [i for i in range(n**3) if voxels[i] == 0 and i // n**axis % n == 0]
    seen = bytearray(n**3)
    for i in at:
        seen[i] = 1
    while at:
        i = at.pop()
        x, y, z = i % n, i // n % n, i // (n * n)
        if (x, y, z)[axis] == n - 1:
            return True
        for a, b, c in product((x - 1, x, x + 1), (y - 1, y, y + 1), (z - 1, z, z + 1)):
            if 0 <= a < n and 0 <= b < n and 0 <= c < n:
                j = a + n * (b + n * c)
                if not seen[j] and voxels[j] == 0:
                    seen[j] = 1
                    at.append(j)
    return False


def crop_of(image, side, rng, n):
    x, y, z = (rng.randrange(side - n + 1) for _ in range(3))
    return b"".join(image[x + side * (y + j + side * (z + k)):][:n] for k in range(n) for j in range(n))


def crops(count, seed, longest, generator, folder):
    rng, side = random.Random(seed), 64
    rocks = [generated(rng, side, generator, folder) for _ in range(4)]
    for i in range(count):
        n, rock = rng.randint(16, longest), rng.choice(ROCKS)
        voxels = crop_of_rock(rng, n, rock) if i % 4 else None
        if voxels is None and i % 4 == 3:  # one phase alone, as scans with large grains have it
            yield f"crop {i}: one phase, {n} voxels", n, bytes([i // 4 % 2]) * n**3
            continue
        name = rock[0] if voxels else "generated"
        yield f"crop {i}: {name}, {n} voxels", n, voxels or crop_of(rng.choice(rocks), side, rng, n)


def wrong_with(karst, folder, n, voxels):
    (folder / "crop.raw").write_bytes(voxels)
    result = karst.run(["run", "crop.raw", "--size", f"{n}x{n}x{n}", "--type", "uint8", "--voxel", "1um", "--pore", "0", "--out",
                        "out", "--overwrite", "output.plot=[]", "flow.estimate_error=false"], folder)
    if result.status != 0:
        return [str(result)]
    summary, wrong = json.loads((folder / "out" / "summary.json").read_text()), []
    for d, flow in enumerate(summary["flow"]):
        k = summary["permeability_m2"][d][d]
        told = f"along {flow['axis']}: permeability {k}, percolates {flow['percolates']}"
        if k is None:
            if 1 in voxels or not flow.get("unbounded"):
                wrong.append(told + ", though there is a wall")
        elif not flow["percolates"]:
            if k != 0:
                wrong.append(told)
        elif not k > SMALLEST_FLOW * 1e-12:
            wrong.append(told + ", which is left over of a solve")
        elif not leads_through(voxels, n, d):
            wrong.append(told + ", but no chain of voxels leads through")
    return wrong


def main():
    arguments = parser(__doc__, generator=True)
    arguments.add_argument("--crops", type=int, default=16)
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--longest", type=int, default=20)
    options = arguments.parse_args()
    karst, bad, kinds = Karst(options.program, options.mpiexec), [], {}
    with tempfile.TemporaryDirectory() as name:
        for crop, n, voxels in crops(options.crops, options.seed, options.longest, options.generator, Path(name)):
            wrong = wrong_with(karst, Path(name), n, voxels)
            kind = "all pore" if 1 not in voxels else "all solid" if 0 not in voxels else "both"
            kinds[kind] = kinds.get(kind, 0) + 1
            bad += [f"{crop}: {w}" for w in wrong]
            if wrong:
                print(bad[-1], flush=True)
    print(f"{options.crops} crops ({kinds}), {len(bad)} wrong")
    if bad or kinds.get("both", 0) < options.crops // 2:
        sys.exit("\n".join(bad) or "too few crops with both phases")


if __name__ == "__main__":
    main()

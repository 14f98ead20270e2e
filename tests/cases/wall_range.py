#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The range of the permeability over plausible walls of a gray image (`karst run --uncertainty`), on a packing of 32^3
voxels, grains with a radius of 8 voxels, blur 0.5 voxel, noise 5 %.

    wall_range.py --program KARST --mpiexec MPIEXEC --generator KARST_MAKE_IMAGE [--table]

Asserts that it contains the permeability of the image and that of the grains themselves on cells half as wide; that its limits
are the permeabilities with geometry.wall_shift set in the deck; that with the wall at a threshold they are those of imports at
thresholds shifted by 5 % of the contrast; that 2 ranks give the same; that text and report show it; that a
segmented image has a range that contains the value of the grains. --table prints only the figures.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from image_permeability import VOXEL, of_spheres
from support import Karst, parser

SIZE = 32
ROUND_OFF = 1e-4  # of permeabilities of solves to 1e-6, relative
IMAGE = f"""[geometry]
image = "gray.raw"
[geometry.import]
size = [{SIZE}, {SIZE}, {SIZE}]
type = "uint8"
voxel = {VOXEL}
"""
FLOW = """[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["x", "z"]
tolerance = 1e-6
estimate_error = false
[output]
plot = []
"""


def run(karst, folder, *more, lines="", ranks=1):
    (folder / "gray.toml").write_text(IMAGE + lines + FLOW)
    result = karst.run(["run", "gray.toml", "--out", "out", "--overwrite", *more], folder, ranks=ranks)
    if result.status != 0:
        sys.exit(f"{more} failed: {result}")
    return json.loads((folder / "out" / "summary.json").read_text()), result.out, (folder / "out" / "report.html").read_text()


def along(summary):
    return [summary["permeability_m2"][d][d] for d in (0, 2)]


def ends(summary):
    """Of x and z: low, high."""
    return [flow["permeability_range_m2"] for flow in summary["flow"]]


def far(found, wanted):
    """Largest relative difference of lists of numbers, one of them perhaps of lists."""
    flat = lambda values: [v for value in values for v in (value if isinstance(value, list) else [value])]
    return max(abs(a / b - 1) for a, b in zip(flat(found), flat(wanted), strict=True))


def of_other_thresholds(karst, folder):
    """How far the range of a wall at the threshold is from runs at other thresholds."""
    summary, _, _ = run(karst, folder, "--uncertainty", lines='wall = "threshold"\n')
    result = karst.run(["import", "gray.raw", "-o", "a.h5", "--json", "a.json", "--page", "none", "--overwrite", "--size",
                        f"{SIZE},{SIZE},{SIZE}", "--type", "uint8", "--voxel", VOXEL, "--wall", "threshold"], folder)
    if result.status != 0:
        sys.exit(f"import failed: {result}")
    report = json.loads((folder / "a.json").read_text())
    step = 0.05 * report["contrast"]
    walls = [along(run(karst, folder, lines=f"threshold = {report['threshold'] + sign * step}\n")[0])
             for sign in (-1, 1)]  # the pore is dark: a higher threshold makes it wider
    return far(ends(summary), [[low, high] for low, high in zip(*walls)])


def check_labels(karst, folder, truth):
    """A segmented image has a range, too, 0.1 voxel to both sides, that holds the permeability of the grains."""
    (folder / "labels.toml").write_text(IMAGE.replace("gray.raw", "labels.raw") + "pore = 0\n" + FLOW.replace('"x", "z"', '"x"'))
    result = karst.run(["run", "labels.toml", "--out", "labels", "--overwrite", "--uncertainty", "flow.estimate_error=true"], folder)
    if result.status != 0:
        sys.exit(f"labels failed: {result}")
    summary = json.loads((folder / "labels" / "summary.json").read_text())
    flow, k = summary["flow"][0], summary["permeability_m2"][0][0]
    low, high = flow["permeability_range_m2"]
    print(f"labels: wall ± {summary['wall_shift_voxels']} voxel, permeability {low:.5g} to {high:.5g} about {k:.5g}, of the grains "
          f"{truth:.5g}; estimated error {flow['permeability_error_m2']:.3g}", flush=True)
    passed = {"labels: 0.1 voxel": summary["wall_shift_voxels"] == 0.1,
              "labels: brackets the grains": low < truth < high and low < k < high < 1.5 * low,
              "labels: what the error is of": "see the range with the wall moved" in summary["permeability_error_of"]}
    return [name for name, good in passed.items() if not good]


def check(karst, folder, truth):
    summary, text, page = run(karst, folder, "--uncertainty")
    shift, k, found = summary["wall_shift_voxels"], along(summary), ends(summary)
    by_hand = [along(run(karst, folder, f"geometry.wall_shift={sign * shift}")[0]) for sign in (-1, 1)]
    by_hand = [[low, high] for low, high in zip(*by_hand)]
    ranks = run(karst, folder, "--uncertainty", ranks=2)[0]
    porosity = summary["porosity_range"]
    thresholds = of_other_thresholds(karst, folder)
    print(f"wall ± {shift:.4f} voxel, porosity {porosity}, permeability {found} about {k}, of the grains along x {truth:.5g}; "
          f"by hand {far(found, by_hand):.1e} off, 2 ranks {far(found, ends(ranks)):.1e}, thresholds {thresholds:.1e}", flush=True)
    passed = {
        "5 % of the contrast move the wall by 0.02 to 0.2 voxel": 0.02 < shift < 0.2,
        "brackets the permeability": all(low < middle < high for (low, high), middle in zip(found, k)),
        "brackets that of the grains": found[0][0] < truth < found[0][1],
        "is narrow": all(high < 2 * low for low, high in found),
        "porosity": porosity[0] < summary["porosity"] < porosity[1],
        "by hand": far(found, by_hand) < ROUND_OFF,
        "on 2 ranks": far([k, *found], [along(ranks), *ends(ranks)]) < ROUND_OFF and ranks["wall_shift_voxels"] == shift,
        "at thresholds": thresholds < ROUND_OFF,
        "in the text": f"wall moved by -{shift:.3g} voxel" in text and f"{found[0][1]:.6g}" in text,
        "on the page": all(f"with the wall moved by {side}{shift:.3g} voxel" in page and f"{k:.4g}" in page
                           for side, k in zip("−+", found[0]))}
    return [name for name, good in passed.items() if not good]


def main():
    options = parser(__doc__, generator=True).parse_args()
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        subprocess.run([options.generator, "-o", "gray.raw", "--labels", "labels.raw", "--truth", "spheres.txt", "--size", str(SIZE), "--radius", "8",
                        "--porosity", "0.4", "--blur", "0.5", "--noise", "0.05"], cwd=place, check=True, capture_output=True)
        truth = of_spheres(karst, Path(place), SIZE, 2 * SIZE)
        wrong = check(karst, Path(place), truth) + check_labels(karst, Path(place), truth)
    if wrong and not options.table:
        sys.exit(f"not so: {wrong}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real gray images, imported with default settings and with the wall at the threshold: porosity, wall area, clusters of solid
and pore, warnings of the import. Each is within 5 % in porosity and 15 % in wall area of the segmentation of its authors, if there
is one, or the first lines of the import warn of it; no fitted wall has fragments or holes that the threshold does not have.

    gray_images.py --program KARST --mpiexec MPIEXEC [--full | --table]

In short those of SHORT; with --full all, and the permeability of one. --table prints the table of docs/measurements/014-walls-of-gray-images.md.

The images are not part of the project. They are searched in the folder KARST_TEST_DATA, otherwise in ../shared/data next to
the project; without them the test is skipped (exit status 77).
"""
import json
import sys
import tempfile
from pathlib import Path

from support import Karst, data_folder, parser

SKIPPED = 77
POROSITY, AREA = 0.05, 0.15  # most that a quiet import may be off the authors' segmentation, relative
# Of a wall that is not the threshold's, against that one: the fit refines
SAME_AREA = 0.25


def slice_of(k):
    return ["--crop_low", f"0,0,{k}", "--crop_high", f"0,0,{k + 1}"]


# name, image, arguments, labels of the authors (0 is pore), a piece of the warning that must come first (None: the wall is good,
# and nothing may be said against threshold and fit)
IMAGES = [
    ("carbon fibre", "fiberform_gray_100.tif", [], "gray/fiberform_labels.tif", "3 peaks"),
    ("trabecular bone", "gray/trabecular_half.tif", [], "gray/trabecular_half_labels.tif", "the threshold is unreliable"),
    ("snow", "gray/snow_spam.tif", [], None, None),
    ("bone", "gray/bone_qim3d.tif", [], None, "not fitted to the image"),
    ("fibre composite", "gray/fibers_qim3d.tif", [], None, "the threshold is unreliable"),
    ("concrete, with air around", "gray/concrete_xray_spam.tif", [], None, "not fitted to the image"),
    ("concrete", "gray/concrete_xray_spam.tif", ["--crop_low", "22,22,18", "--crop_high", "78,78,82"], None,
     "the threshold is unreliable"),
    ("tight rock, first slice", "gray/shale_fibsem_slices.tif", slice_of(0), None, "the threshold is unreliable"),
    ("limestone slice", "ct_slices/slice_u16_980x1008.tiff", ["--sample", "cylinder"], None, "the threshold is unreliable"),
    ("slice of a tomogram", "ct_slices/slice_f32_1001x1024.tiff", [], None, "4 peaks"),
] + [(f"sandstone, slice {k + 1}", "gray/sandstone_slices.tif", slice_of(k), "gray/sandstone_slices_labels.tif",
      "3 peaks" if k in (2, 4) else "4 peaks" if k == 0 else "porosity depends") for k in range(5)]

SHORT = ("concrete", "sandstone, slice 1", "sandstone, slice 2", "sandstone, slice 3")  # small, most kinds of warnings


def run_import(karst, folder, image, arguments):
    """Report and the first lines of the output."""
    result = karst.run(["import", image, "-o", "a.h5", "--json", "a.json", "--page", "none", "--overwrite", "--voxel", "1e-5",
                        *arguments], folder)
    if result.status != 0:
        sys.exit(f"{image} failed: {result}")
    return json.loads((folder / "a.json").read_text()), result.out


def figures(report):
    return report["level_set_porosity"], report["statistics"]["specific_surface"]


def first_warning(output):
    """The one beside the line that names the image."""
    lines = output.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  voxel width"))
    return lines[at + 1] if lines[at + 1].startswith("  warning: ") else ""


def measure(karst, folder, image):
    """Prints a row; returns the problems."""
    name, file, arguments, labels, expected = image
    report, output = run_import(karst, folder, data_folder() / file, arguments)
    threshold, _ = run_import(karst, folder, data_folder() / file, [*arguments, "--wall", "threshold"])
    truth = None
    if labels:
        truth = figures(run_import(karst, folder, data_folder() / labels, [*arguments, "--pore", "0"])[0])
    found, of_threshold = figures(report), figures(threshold)
    warning = first_warning(output)
    said = [w for w in report["warnings"] if "throats" not in w and "no pore percolates" not in w and "counting voxels" not in w]
    text = lambda pair: f"{pair[0]:.4f}, {pair[1]:.4f}" if pair else ""
    print(f"| {name} | {text(of_threshold)} | {'fitted: ' + text(found) if report['scan'] else 'the same'} | {text(truth)} | "
          f"{'; '.join(w.split(':')[0].split(',')[0] for w in said)} |", flush=True)
    problems = []
    if expected and expected not in warning + "".join(report["warnings"][:3]):
        problems.append(f"{name}: \"{expected}\" is not said first, but \"{warning}\"")
    if not expected and said:
        problems.append(f"{name}: {said}")
    if expected and not warning:
        problems.append(f"{name}: no warning in the first lines")
    if truth and not said and not (abs(found[0] / truth[0] - 1) <= POROSITY and abs(found[1] / truth[1] - 1) <= AREA):
        problems.append(f"{name}: {found}, the authors have {truth}, and no warning")
    if abs(found[1] / of_threshold[1] - 1) > SAME_AREA:
        problems.append(f"{name}: wall area {found[1]}, that of the threshold {of_threshold[1]}")
    if not report["scan"] and found != of_threshold:
        problems.append(f"{name}: not fitted, but {found} and not {of_threshold}")
    return problems


def permeability(karst, folder):
    """Of the carbon fibre as it is imported: four thresholds agree on 53 to 61 darcy along x and 368 to 392 along z."""
    (folder / "flow.toml").write_text(f"""[geometry]
image = "{data_folder() / 'fiberform_gray_100.tif'}"
[geometry.import]
voxel = 1.3e-6
[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["x", "z"]
tolerance = 1e-4
estimate_error = false
[output]
plot = []
""")
    result = karst.run(["run", "flow.toml", "--out", "flow", "--overwrite"], folder, threads=2)
    if result.status != 0:
        sys.exit(f"carbon fibre failed: {result}")
    k = json.loads((folder / "flow" / "summary.json").read_text())["permeability_m2"]
    darcy = [k[d][d] / 9.869233e-13 for d in (0, 2)]
    print(f"carbon fibre: {darcy[0]:.1f} darcy along x, {darcy[1]:.1f} along z", flush=True)
    good = 0.9 * 53 <= darcy[0] <= 1.1 * 61 and 0.9 * 368 <= darcy[1] <= 1.1 * 392
    return [] if good else [f"carbon fibre: permeabilities {darcy} darcy"]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--table", action="store_true")
    options = arguments.parse_args()
    needed = sorted({file for image in IMAGES for file in (image[1], image[3]) if file})
    missing = [name for name in needed if not (data_folder() / name).exists()]
    if missing:
        print(f"skipped: no {', '.join(missing)} in {data_folder()}; set KARST_TEST_DATA to the folder that has them")
        return SKIPPED
    karst = Karst(options.program, options.mpiexec)
    problems = []
    print("| image | threshold: porosity, wall area [1/voxel] | default | authors | what the import says |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        for image in IMAGES:
            if image[0] not in SHORT and not (options.full or options.table):
                continue
            problems += measure(karst, Path(place), image)
        if options.full:
            problems += permeability(karst, Path(place))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real rocks: porosity within 1 % of that of the voxels, identical counts on 1 and 4 ranks; formation factors and
permeabilities (from the raw file, one deck each) that do not depend on ranks, threads and box size; on cells half as wide
the permeability changes by less than the error estimate; the apparent permeability between reservoirs decreases with
inertia; all images are imported.

    rocks.py --program KARST --mpiexec MPIEXEC [--short | --full]

--short: the smaller rock, its counts on 1 and 4 ranks, formation factors and permeability on 2, nothing else.
--full: the error estimate of the whole rocks (3 and 1.9 million fluid cells) instead of a part of one, and nothing else.

The images are not part of the project. They are searched in the folder KARST_TEST_DATA, otherwise in ../shared/data next to
the project; without them the test is skipped (exit status 77).
"""
import gzip
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from same_answer import differences
from support import Karst, data_folder, parser

# file, voxels per side, voxel width [m], porosity of the voxels (0 is pore)
ROCKS = [("ketton_128.raw.gz", 128, 5.3e-6, 0.1832), ("berea_110.raw.gz", 110, 1.0, 0.1779)]
# Formation factors along x, y, z as computed by Karst, one cell per voxel: they change when the method changes.
FORMATION_FACTORS = {"ketton_128.raw.gz": (19.486, 11.832, 12.245), "berea_110.raw.gz": (14.764, 47.190, 20.391)}
FLOW_AXIS = {"ketton_128.raw.gz": "z", "berea_110.raw.gz": "x"}
# Permeability over voxel width squared with sealed sides and fixed pressures as other codes have it on the voxels of the
# image: lattice Boltzmann (LBPM) 0.830, finite volumes (simpleFoam) 0.931, the same on a snapped mesh 0.992. Throats are
# one to four voxels wide, hence the spread.
PERMEABILITIES = {"ketton_128.raw.gz": (0.830, 0.992)}
# Ranks, threads and box of the runs that must agree: many with the smaller rock, two with the larger one.
FLOW_RUNS = {"ketton_128.raw.gz": [(1, 2, 16), (4, 1, 32)],
             "berea_110.raw.gz": [(1, 1, 16), (1, 2, 16), (1, 1, 32), (2, 1, 16), (4, 1, 16)]}
DIFFUSION_RUNS = {"ketton_128.raw.gz": FLOW_RUNS["ketton_128.raw.gz"],
                  "berea_110.raw.gz": [(1, 1, 16), (2, 1, 16), (4, 1, 16), (1, 2, 16), (1, 1, 8), (1, 1, 32)]}
PART = ((32, 32, 32), (96, 96, 96))  # of the Ketton image, voxels: percolates along z
SKIPPED = 77
# file, where its image is after unpacking (None: as it is), arguments of the import, porosity and its tolerance
# (data/README: values of the voxels, for gray images about; slices: what the page showed when it was looked at)
IMAGES = [
    ("fiberform_gray_100.tif", None, ["--voxel", "1.3e-6"], 0.84, 0.02),
    ("ketton_128.raw.gz", "ketton.raw", ["--size", "128,128,128", "--type", "uint8", "--voxel", "5.3e-6", "--pore", "0"],
     0.1832, 0.0002),
    ("berea_110.raw.gz", "berea.raw", ["--size", "110,110,110", "--type", "uint8", "--voxel", "1m", "--pore", "0"],
     0.1779, 0.0002),
    ("kelvin_foam_200.raw.tar.gz", "Kelvin1-200x200x200.raw",
     ["--size", "200,200,200", "--type", "uint8", "--voxel", "1e-5", "--pore", "1"], 0.779, 0.001),
    ("calcite_post_536x300x40.raw.tar.gz", "calcitePost.raw",
     ["--size", "536,300,40", "--type", "uint8", "--voxel", "5e-6", "--pore_above", "true"], 0.947, 0.002),
    ("ct_slices/slice_u16_980x1008.tiff", None, ["--voxel", "1e-6", "--sample", "cylinder"], None, None),
    ("ct_slices/slice_f32_1001x1024.tiff", None, ["--voxel", "1e-6"], None, None),
]


def run(karst, folder, arguments, ranks):
    result = karst.run(arguments, folder, ranks)
    if result.status != 0:
        sys.exit(f"{arguments} on {ranks} ranks failed: {result}")


def unpack_rock(folder, rock):
    (folder / "rock.raw").write_bytes(gzip.decompress((data_folder() / rock[0]).read_bytes()))


def measure(karst, folder, rock):
    """Imports a rock (to rock.h5 in the folder) and cuts it on 1 and on 4 ranks; returns both summaries."""
    name, n, voxel, _ = rock
    unpack_rock(folder, rock)
    (folder / "deck.toml").write_text('[geometry]\nimage = "rock.h5"\n')
    run(karst, folder, ["import", "rock.raw", "-o", "rock.h5", "--overwrite", "--size", f"{n},{n},{n}", "--type",
                        "uint8", "--voxel", f"{voxel}m", "--pore", 0], 1)
    summaries = []
    for ranks in (1, 4):
        run(karst, folder, ["geometry", "deck.toml", "--out", "out", "--overwrite", "-j", 1], ranks)
        summaries.append(json.loads((folder / "out" / "summary.json").read_text()))
    return summaries


def check(karst, folder, rock):
    """Prints what was found; returns the problems."""
    name, porosity = rock[0], rock[3]
    summaries = measure(karst, folder, rock)
    found = list(differences(*summaries))
    computed = summaries[0]["porosity"]
    if abs(computed / porosity - 1) > 0.01:
        found.append(f"porosity {computed:.5f}, the voxels hold {porosity}")
    print("FAILED" if found else "passed", name, f"porosity {computed:.5f} (voxels {porosity})", summaries[0]["cells"],
          "; ".join(found), flush=True)
    return found


def check_diffusion(karst, folder, rock, runs=None):
    """Formation factors of the rock (rock.h5 in the folder); prints them, returns the problems."""
    name = rock[0]
    found, first = [], None
    for ranks, threads, box in runs or DIFFUSION_RUNS[name]:
        axes = '["x","y","z"]' if first is None else '["y"]'
        run(karst, folder, ["run", "deck.toml", "--out", "out", "--overwrite", "-j", threads, f"grid.box={box}",
                            "output.plot=[]", f"diffusion.axes={axes}", "diffusion.tolerance=1e-11"], ranks)
        summary = json.loads((folder / "out" / "summary.json").read_text())
        computed = summary["formation_factor"]
        if first is None:
            first = computed
            wrong = [abs(a / b - 1) > 1e-3 for a, b in zip(computed, FORMATION_FACTORS[name])]
            found += [f"formation factors {computed}, expected {FORMATION_FACTORS[name]}"] if any(wrong) else []
        if abs(computed[1] / first[1] - 1) > 1e-8:
            found.append(f"{ranks} ranks, {threads} threads, box {box}: {computed[1]!r} against {first[1]!r}")
        worst = max(summary["balances"].values())
        found += [f"inflow and outflow differ by {worst}"] if worst > 1e-7 else []
        found += [f"{s['name']}: {s['iterations']} iterations" for s in summary["solves"] if s["iterations"] > 20]
    print("FAILED" if found else "passed", name, "formation factors", ", ".join(f"{f:.4f}" for f in first),
          f"inflow - outflow {worst:.1e}", "; ".join(found), flush=True)
    return found


def flow_deck(folder, rock, more="", part=None):
    """From the raw file (rock.raw in the folder) to the permeability along one axis: the name of a deck."""
    name, n, voxel, _ = rock
    crop = f"crop_low = {list(part[0])}\ncrop_high = {list(part[1])}\n" if part else ""
    (folder / "flow.toml").write_text(
        f"""[geometry]
image = "rock.raw"
[geometry.import]
size = [{n}, {n}, {n}]
type = "uint8"
voxel = {voxel}
pore = 0
{crop}[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["{FLOW_AXIS[name]}"]
sides = "no-slip"
{more}[output]
plot = []
""")
    return "flow.toml"


def flow_of(karst, folder, deck, arguments=(), ranks=1, threads=2):
    """Runs a flow deck; returns the summary and the permeability along its axis [m²]."""
    run(karst, folder, ["run", deck, "--out", "out", "--overwrite", "-j", threads, *arguments], ranks)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    flow = summary["flow"][0]
    axis = "xyz".index(flow["axis"])
    return summary, summary["permeability_m2"][axis][axis]


def check_flow(karst, folder, rock, runs=None):
    """Permeability from the raw file of the rock (rock.raw in the folder); prints it, returns the problems."""
    name, voxel = rock[0], rock[2]
    deck = flow_deck(folder, rock, "tolerance = 1e-9\n")
    found, values = [], []
    for ranks, threads, box in runs or FLOW_RUNS[name]:
        summary, k = flow_of(karst, folder, deck, [f"grid.box={box}"], ranks, threads)
        values.append(k)
        if abs(k / values[0] - 1) > 1e-8:
            found.append(f"{ranks} ranks, {threads} threads, box {box}: {k!r} against {values[0]!r}")
        if summary["solves"][0]["iterations"] > 45:
            found.append(f"{summary['solves'][0]['iterations']} iterations")
        if summary["balances"]["mass_relative"] > 1e-5:
            found.append(f"mass is off by {summary['balances']['mass_relative']}")
    scaled = values[0] / voxel ** 2
    low, high = PERMEABILITIES.get(name, (0, 1e9))
    found += [] if low <= scaled <= high else [f"other codes find {low} to {high}"]
    print("FAILED" if found else "passed", name, f"permeability along {FLOW_AXIS[name]}: {scaled:.6f} voxel²;",
          f"largest difference {max(abs(k / values[0] - 1) for k in values):.1e}", "; ".join(found), flush=True)
    return found


def check_estimate(karst, folder, rock, part=None):
    """The error estimate against what cells half as wide change; prints both, returns the problems."""
    name, n, *_ = rock
    summary, k = flow_of(karst, folder, flow_deck(folder, rock, "estimate_error = true\n", part))
    estimate = summary["flow"][0]["permeability_error_m2"] / k
    size = [2 * n] * 3 if part is None else [2 * (high - low) for low, high in zip(*part)]
    _, fine = flow_of(karst, folder, flow_deck(folder, rock, "", part), [f"grid.cells={size}"])
    change = abs(fine / k - 1)
    good = 0 < change <= estimate < 0.1
    print("passed" if good else "FAILED", name, "part" if part else "whole",
          f"cells half as wide change the permeability by {100 * change:.2f} %, estimated {100 * estimate:.2f} %", flush=True)
    return [] if good else [f"{name}: estimate {estimate}, change {change}"]


def check_inertia(karst, folder, rock, part):
    """A part between reservoirs: the apparent permeability falls with every step; prints it, returns the problems."""
    name = rock[0]
    deck = flow_deck(folder, rock, "tolerance = 1e-6\nreservoir = 16\npressure_drop = 5.0\nsteps = [1, 4, 10]\n", part)
    summary, slow = flow_of(karst, folder, deck, ['flow.model="steady"', 'flow.sides="symmetry"'])
    sweep = [p["permeability_m2"] / slow for p in summary["flow"][0]["inertia"]["points"]]
    good = 1 > sweep[0] > sweep[1] > sweep[2] and 0.5 < sweep[2] < 0.95
    print("passed" if good else "FAILED", name, "part, apparent permeability over that of Stokes flow",
          ", ".join(f"{k:.4f}" for k in sweep), flush=True)
    return [] if good else [f"{name}: apparent permeability {sweep}"]


def unpack(name, image, folder):
    """Path of the image, in the folder when it was packed."""
    source = data_folder() / name
    if name.endswith(".tar.gz"):
        with tarfile.open(source) as archive:
            (folder / image).write_bytes(archive.extractfile(image).read())
    elif name.endswith(".gz"):
        (folder / image).write_bytes(gzip.decompress(source.read_bytes()))
    return source if image is None else folder / image


def import_all(karst, folder):
    """Every image with one command; prints the key figures, returns the problems."""
    found = []
    for name, image, arguments, porosity, tolerance in IMAGES:
        run(karst, folder, ["import", unpack(name, image, folder), "-o", "a.h5", "--json", "a.json", "--overwrite", *arguments],
            1)
        report = json.loads((folder / "a.json").read_text())
        statistics = report["statistics"]
        good = porosity is None or abs(report["porosity"] - porosity) <= tolerance
        good = good and (folder / "a.html").stat().st_size > 50000
        widest = min(n for n in report["voxels"] if n > 1)
        good = good and statistics["pore_size"]["largest"] <= widest
        good = good and all(abs(rho) <= 1 for along in statistics["correlation"] for rho in along)
        print("passed" if good else "FAILED", name, f"porosity {report['porosity']:.4f}",
              f"percolates {statistics['percolates']}", f"warnings {len(report['warnings'])}", flush=True)
        found += [] if good else [f"{name}: porosity {report['porosity']:.4f}, expected {porosity} +- {tolerance}"]
    return found


def short(karst, folder):
    berea, runs = ROCKS[1], [(2, 1, 16)]
    return check(karst, folder, berea) + check_diffusion(karst, folder, berea, runs) + check_flow(karst, folder, berea, runs)


def usual(karst, folder):
    problems = []
    for rock in ROCKS:
        for test in (check, check_diffusion, check_flow):
            problems += test(karst, folder, rock)
        if rock[0] == "ketton_128.raw.gz":
            problems += check_estimate(karst, folder, rock, PART) + check_inertia(karst, folder, rock, PART)
    return problems + import_all(karst, folder)


def full(karst, folder):
    problems = []
    for rock in ROCKS:
        unpack_rock(folder, rock)
        problems += check_estimate(karst, folder, rock)
    return problems


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--short", action="store_true")
    arguments.add_argument("--full", action="store_true")
    options = arguments.parse_args()
    missing = [name for name, *_ in IMAGES if not (data_folder() / name).exists()]
    if missing:
        print(f"skipped: no {', '.join(missing)} in {data_folder()}; set KARST_TEST_DATA to the folder that has them")
        return SKIPPED
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        problems = (full if options.full else short if options.short else usual)(karst, Path(place))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Invalid input ends every command with status 1 and one message that says what is wrong, and leaves no new file.

    bad_input.py --program KARST --mpiexec MPIEXEC --ranks N [--every N] [NAME]

Every case below and in bad_flow.py, bad_transport.py and bad_chemistry.py runs in a separate empty folder. Its message must contain
the words given; the folder must be unchanged, older results included.
"""
import bz2
import gzip
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bad_chemistry  # noqa: F401, likewise
import bad_flow  # noqa: F401, registers its cases
import bad_transport  # noqa: F401, likewise
from bad_cases import CASES, FAILED, FAILED_BESIDE, case, deck, raw_deck
from support import Karst, contents, older_results, parser, sphere_deck, sphere_image

RAW = ["--size", "16,16,16", "--type", "uint8", "--voxel", "1e-6", "--pore", "0", "-o", "rock.h5"]


# --- the command line
@case
def no_command(folder):
    return [], ["command", "--help"]


@case
def unknown_command(folder):
    return ["geomtry", deck(folder, sphere_deck())], ["geomtry", 'mean "geometry"']


@case
def unknown_option(folder):
    return ["check", deck(folder, sphere_deck()), "--fast"], ["--fast", "--help"]


@case
def no_deck_named(folder):
    return ["geometry"], ["deck", "required"]


@case
def threads_zero(folder):
    return ["check", deck(folder, sphere_deck()), "-j", "0"], ["--threads", "1"]


@case
def help_on_unknown_key(folder):
    return ["help", "grid.bok"], ["grid.bok", "grid.box"]


# --- the deck
@case
def missing_deck(folder):
    return ["geometry", "none.toml"], ["none.toml", "No such file"]


@case
def deck_is_no_toml(folder):
    return ["check", deck(folder, "[grid\ncells = 3\n")], ["deck.toml:1"]


@case
def unknown_key(folder):
    return ["check", deck(folder, sphere_deck() + "colour = 3\n")], ["grid.colour", "deck.toml:12"]


@case
def misspelt_key(folder):
    return ["geometry", deck(folder, sphere_deck() + "peridic = [true, true, true]\n")], ["grid.peridic", "grid.periodic"]


@case
def misspelt_table(folder):
    return ["check", deck(folder, sphere_deck() + "[outptu]\nplot = []\n")], ["outptu", "output"]


@case
def all_mistakes_at_once(folder):
    text = sphere_deck() + "levels = 0\nperiodic = 3\ncolor = 1\n"
    return ["check", deck(folder, text)], ["grid.levels", "grid.periodic", "grid.color"]


@case
def wrong_type(folder):
    return ["check", deck(folder, sphere_deck()), 'grid.cells="many"'], ["grid.cells", '"many"', "3 integers"]


@case
def negative_cells(folder):
    return ["check", deck(folder, sphere_deck()), "grid.cells=[16,-16,16]"], ["grid.cells", "-16"]


@case
def negative_size(folder):
    return ["check", deck(folder, sphere_deck()), "grid.size=[1e-3,-1e-3,1e-3]"], ["grid.size", "-0.001"]


@case
def negative_radius(folder):
    return ["check", deck(folder, sphere_deck(radius=-0.3))], ["geometry.solid[0].radius", "> 0"]


@case
def cells_not_cubes(folder):
    return ["check", deck(folder, sphere_deck()), "grid.cells=[16,16,32]"], ["grid.size", "cubes"]


@case
def box_size_12(folder):
    return ["geometry", deck(folder, sphere_deck(box=12))], ["grid.box", "12", "8", "16", "32"]


@case
def unknown_plot_field(folder):
    return ["geometry", deck(folder, sphere_deck()), 'output.plot=["fractoin"]'], ["output.plot", 'mean "fraction"']


@case
def override_without_value(folder):
    return ["check", deck(folder, sphere_deck()), "grid.box"], ["grid.box", "key=value"]


@case
def override_of_unknown_key(folder):
    return ["check", deck(folder, sphere_deck()), "grid.bax=8"], ["command line", "grid.bax", "grid.box"]


# --- the geometry
@case
def no_geometry(folder):
    return ["geometry", deck(folder, "[grid]\ncells = [8, 8, 8]\n")], ["geometry.image", "geometry.solid", "grid.size"]


@case
def no_fluid(folder):
    return ["geometry", deck(folder, sphere_deck(radius=2.0))], ["contains any fluid", "inside"]


@case
def all_fluid(folder):
    return ["geometry", deck(folder, sphere_deck()), "geometry.solid[0].center=[9e-3,9e-3,9e-3]"], ["the whole domain is fluid"]


@case
def missing_image(folder):
    return ["geometry", deck(folder, '[geometry]\nimage = "rock.h5"\n')], ["rock.h5", "geometry.image"]


@case
def image_is_no_geometry_file(folder):
    (folder / "rock.h5").write_bytes(b"no HDF5 file")
    return ["geometry", deck(folder, '[geometry]\nimage = "rock.h5"\n')], ["rock.h5", "HDF5"]


@case
def raw_image_without_import_table(folder):
    (folder / "rock.raw").write_bytes(sphere_image(8, 3))
    return ["check", deck(folder, '[geometry]\nimage = "rock.raw"\n')], ["rock.raw", "geometry.import"]


@case
def raw_image_truncated(folder):
    return ["geometry", raw_deck(folder, sphere_image(16, 5)[:-100])], ["rock.raw", "4096", "3996"]


@case
def raw_image_without_pores(folder):
    return ["geometry", raw_deck(folder, sphere_image(16, 5), "pore = 7\n")], ["rock.raw", "no voxel"]


# --- run
def run_deck(folder, extra='axes = ["x"]\n', **ball):
    return deck(folder, sphere_deck(**ball) + "[diffusion]\n" + extra)


@case
def run_without_a_job(folder):
    return ["run", deck(folder, sphere_deck())], ["nothing to compute", "[diffusion]", "axes"]


@case
def run_unknown_axis(folder):
    return ["run", run_deck(folder, 'axes = ["x", "w"]\n')], ["diffusion.axes", '"w"', '"z"', "deck.toml:13"]


@case
def run_axis_twice(folder):
    return ["run", run_deck(folder), 'diffusion.axes=["y","y"]'], ["diffusion.axes", "twice"]


@case
def run_axes_no_list(folder):
    return ["run", run_deck(folder, 'axes = "x"\n')], ["diffusion.axes", "list of texts"]


@case
def run_misspelt_axes(folder):
    return ["run", run_deck(folder, 'axis = ["x"]\n')], ["diffusion.axis", "diffusion.axes"]


@case
def run_tolerance_too_large(folder):
    return ["run", run_deck(folder), "diffusion.tolerance=0.5"], ["diffusion.tolerance", "0.5", "0.01"]


@case
def run_negative_diffusivity(folder):
    return ["run", run_deck(folder), "diffusion.diffusivity=-1e-9"], ["diffusion.diffusivity", "-1e-09", "> 0"]


@case
def run_key_without_axes(folder):
    return ["check", run_deck(folder, "tolerance = 1e-6\n")], ["diffusion.tolerance", "without diffusion.axes"]


@case
def run_field_of_no_job(folder):
    return ["run", deck(folder, sphere_deck()), 'output.plot=["concentration"]'], ["output.plot", "concentration", "[diffusion]"]


@case
def run_too_few_cells(folder):
    return ["run", run_deck(folder, cells=8)], ["diffusion.axes", "8 cells", "16"]


@case
def run_period_too_short(folder):
    return ["run", run_deck(folder, cells=8), "grid.periodic=[true,true,true]"], ["periodic along x", "8 cells", "16"]


@case
def run_does_not_converge(folder):
    return ["run", run_deck(folder), "diffusion.max_iterations=1"], [
        "diffusion x", "did not converge", "1 iterations", "Try", "no solve has finished"], FAILED


@case
def run_that_fails_keeps_older_results(folder):
    older_results(folder / "out", "report.html")
    return ["run", run_deck(folder), "--overwrite", "diffusion.max_iterations=1"], ["did not converge"], FAILED_BESIDE


@case
def run_over_older_results(folder):
    (folder / "out").mkdir()
    (folder / "out" / "report.html").write_text("older")
    return ["run", run_deck(folder)], ["out", "report.html", "--overwrite"]


@case
def run_petsc_option_of_no_job(folder):
    return ["run", run_deck(folder), "--petsc", "-pressure_ksp_type cg"], ["--petsc", "-pressure_ksp_type", "-diffusion_"]


# --- import
@case
def import_missing_image(folder):
    return ["import", "rock.raw", *RAW], ["rock.raw"]


@case
def run_a_missing_image(folder):
    return ["run", "none.tif", "--voxel", "2um"], ["there is no image none.tif"]


@case
def run_an_image_with_an_unknown_unit(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["run", "rock.raw", "--size", "16x16x16", "--type", "uint8", "--pore", "0", "--voxel", "5thou"], [
        "--voxel", "5thou", "um"]


@case
def run_an_image_without_a_width(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["run", "rock.raw", "--size", "16x16x16", "--type", "uint8", "--pore", "0"], ["rock.raw", "--voxel WIDTH"]


@case
def import_a_width_of_metres(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", "-o", "rock.h5", "--size", "16x16x16", "--type", "uint8", "--pore", "0", "--voxel", "5.3"], ["--voxel", "5.3um", "5.3m"]


@case
def import_several_mistakes(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", "-o", "rock.h5", "--size", "16x16x16", "--pore", "0", "--threshold", "3", "--keep", "connected", "--denoise_step", "2"], [
        "--pore and --threshold", "--keep_axes", "--denoise median", "does not contain the voxel width"]


@case
def import_two_values(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", "-o", "rock.h5", "--size", "16x16x16", "--voxel", "2um"], ["--pore 0 or --pore", " % of the voxels)"]


@case
def import_text_as_voxels(folder):
    (folder / "rock.raw").write_text("0 1\n" * 1024)  # 4096 letters for 4096 voxels
    return ["import", "rock.raw", *RAW], ["rock.raw", "first bytes are text", "numpy.save"]


@case
def run_an_image_of_another_kind(folder):
    (folder / "rock.raw").write_bytes(bz2.compress(sphere_image(16, 5)))
    return ["run", "rock.raw", "--size", "16x16x16", "--type", "uint8", "--pore", "0", "--voxel", "2um"], ["compressed by bzip2", "only `karst import` reads it"]


@case
def import_damaged_gzip(folder):
    (folder / "rock.raw.gz").write_bytes(gzip.compress(sphere_image(16, 5))[:-6])
    return ["import", "rock.raw.gz", *RAW], ["rock.raw.gz", "ends early"]


@case
def init_over_an_existing_deck(folder):
    return ["init", deck(folder, sphere_deck())], ["deck.toml", "exists", "another"]


@case
def import_truncated(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5)[:-1])
    return ["import", "rock.raw", *RAW], ["rock.raw", "4095", "4096"]


@case
def import_wrong_sizes(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", "--size", "16,16", *RAW[2:]], ["size", "3"]


@case
def import_without_size(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", *RAW[2:]], ["rock.raw", "size"]


@case
def import_unknown_type(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", "--type", "uint9", *RAW[:2], *RAW[4:]], ["type", "uint9", "uint8"]


@case
def import_negative_voxel(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    return ["import", "rock.raw", *RAW[:4], "--voxel", "-1e-6", *RAW[6:]], ["voxel", "-1e-06"]


@case
def import_over_existing(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5))
    (folder / "rock.h5").write_text("older result")
    return ["import", "rock.raw", *RAW], ["rock.h5", "--overwrite"]


def gray_image(n):
    """Gray values between 60 and 180, none of them rare."""
    return bytes(60 + 120 * ((x // 4 + y // 4 + z // 4) % 2) + (x * 7 + y * 3 + z) % 5
                 for z in range(n) for y in range(n) for x in range(n))


GRAY = ["--size", "16,16,16", "--type", "uint8", "--voxel", "1e-6", "-o", "rock.h5"]


def png_slice(path, nx, ny):
    """A gray PNG, written by hand: one filter byte before each row."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((x * y) % 251 for x in range(nx)) for y in range(ny))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", nx, ny, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@case
def import_stack_of_mixed_sizes(folder):
    (folder / "slices").mkdir()
    for number, nx in ((1, 16), (2, 17), (3, 16)):
        png_slice(folder / "slices" / f"s{number}.png", nx, 16)
    return ["import", "slices", "--voxel", "1e-6", "-o", "rock.h5"], ["s2.png", "17", "16"]


@case
def import_stack_with_a_missing_slice(folder):
    (folder / "slices").mkdir()
    for number in (1, 2, 4):
        png_slice(folder / "slices" / f"s{number}.png", 16, 16)
    return ["import", "slices", "--voxel", "1e-6", "-o", "rock.h5"], ["s2.png", "between the numbers 1 and 4: 3"]


@case
def import_empty_folder(folder):
    (folder / "slices").mkdir()
    return ["import", "slices", "--voxel", "1e-6", "-o", "rock.h5"], ["slices"]


@case
def import_empty_file(folder):
    (folder / "rock.tif").write_bytes(b"")
    return ["import", "rock.tif", "--voxel", "1e-6", "-o", "rock.h5"], ["rock.tif"]


@case
def import_not_a_number(folder):
    values = [1.0, 2.0, 3.0, 2.5] * 1024
    values[300] = float("nan")
    (folder / "rock.raw").write_bytes(struct.pack("<4096f", *values))
    return ["import", "rock.raw", *GRAY[:2], "--type", "float32", *GRAY[4:]], ["rock.raw", "nan"]


@case
def import_all_one_value(folder):
    (folder / "rock.raw").write_bytes(bytes([7]) * 4096)
    return ["import", "rock.raw", *GRAY], ["rock.raw", "7", "nothing to segment"]


@case
def import_threshold_beyond_the_values(folder):
    (folder / "rock.raw").write_bytes(gray_image(16))
    return ["import", "rock.raw", *GRAY, "--threshold", "250"], ["250", "60", "184"]


@case
def import_unnamed_label(folder):
    (folder / "rock.raw").write_bytes(bytes([0, 1, 2, 5]) * 1024)
    return ["import", "rock.raw", *GRAY, "--label_values", "0,1,2", "--names", "pore,quartz,calcite"], ["5", "1024"]


@case
def import_two_pores(folder):
    (folder / "rock.raw").write_bytes(bytes([0, 1]) * 2048)
    return ["import", "rock.raw", *GRAY, "--label_values", "0,1", "--names", "pore,pore"], ["pore"]


@case
def import_pore_and_threshold(folder):
    (folder / "rock.raw").write_bytes(gray_image(16))
    return ["import", "rock.raw", *GRAY, "--pore", "60", "--threshold", "100"], ["pore", "threshold"]


@case
def import_keeps_no_pore(folder):
    (folder / "rock.raw").write_bytes(sphere_image(16, 5, solid=0, pore=1))
    return ["import", "rock.raw", *GRAY, "--pore", "0", "--keep", "connected", "--keep_axes", "true,false,false"], ["connects"]


@case
def import_seed_on_the_wrong_side(folder):
    (folder / "rock.raw").write_bytes(gray_image(16))
    return ["import", "rock.raw", *GRAY, "--threshold", "100", "--seed_threshold", "120"], ["seed_threshold", "100", "120"]


# --- the place of the results
@case
def existing_output(folder):
    (folder / "out").mkdir()
    (folder / "out" / "summary.json").write_text("older result")
    return ["geometry", deck(folder, sphere_deck())], ["out", "--overwrite"]


@case
def output_is_a_file(folder):
    (folder / "out").write_text("no folder")
    return ["geometry", deck(folder, sphere_deck()), "--overwrite"], ["out"]


@case
def output_below_a_file(folder):
    (folder / "file").write_text("no folder")
    return ["geometry", deck(folder, sphere_deck()), "--out", "file/out"], ["file/out"]


@case
def output_where_nothing_can_be_made(folder):
    return ["run", run_deck(folder), "--out", "/proc/karst/out"], ["/proc/karst/out"]


@case
def full_disk(folder):
    """A disk of 64 KiB; only root may make one."""
    small = folder / "small"
    small.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if made.returncode != 0:
        return None
    text = sphere_deck(cells=48, box=16)
    return ["geometry", deck(folder, text), "--out", "small/out", 'output.plot=["distance", "wall_normal"]'], \
        ["small/out", "space"]


def problems_of(result, words):
    """What is wrong with a run that should fail."""
    if result.status != 1:
        yield f"exit status {result.status}, not 1"
    messages = len(re.findall(r"^(?:ranks? [^:]*: )?error:", result.err, re.MULTILINE))
    if messages != 1:
        yield f"{messages} messages on stderr, not 1"
    for word in words:
        if word not in result.err:
            yield f'the message lacks "{word}"'
    for word in ("terminate called", "Segmentation", "MPI_ABORT", "HDF5-DIAG", "This is a bug", "rank 0:"):
        if word in result.err:
            yield f'stderr holds "{word}"'


def run_case(karst, name, ranks):
    """Returns the problems found; None when the case cannot run here."""
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        folder = Path(place)
        made = CASES[name](folder)
        if made is None:
            return None
        try:
            arguments, words, *kept = made  # kept: what a run leaves that fails while it solves
            before = contents(folder)
            try:
                result = karst.run(arguments, folder, ranks)
            except subprocess.TimeoutExpired as hang:
                return [f"{name}, {ranks} ranks: hangs: {hang}"]
            found = list(problems_of(result, words))
            after = contents(folder)
            found += [f"left behind: {f}" for f in after if f not in before and f not in sum(kept, [])]
            found += [f"not left: {f}" for f in sum(kept, []) if f not in after]
            found += [f"changed or removed: {f}" for f in before if after.get(f, b"") != before[f]]
            return [f"{name}, {ranks} ranks: {problem}" for problem in found] + ([str(result)] if found else [])
        finally:
            if os.path.ismount(folder / "small"):
                subprocess.run(["umount", str(folder / "small")], check=True)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--ranks", type=int, required=True)
    arguments.add_argument("--every", type=int, default=1, help="run every N-th case")
    arguments.add_argument("name", nargs="?", help="one case (default: all)")
    options = arguments.parse_args()
    karst = Karst(options.program, options.mpiexec)
    failed = 0
    names = [options.name] if options.name else list(CASES)[::options.every]
    with ThreadPoolExecutor(4) as pool:  # starting and ending ranks is mostly waiting
        results = list(pool.map(lambda name: run_case(karst, name, options.ranks), names))
    for name, problems in zip(names, results):
        print(f"{'skipped' if problems is None else 'FAILED' if problems else 'passed':8} {name}", flush=True)
        for problem in problems or []:
            print("   ", problem.replace("\n", "\n    "))
        failed += bool(problems)
    print(f"{len(names) - failed} of {len(names)} cases as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

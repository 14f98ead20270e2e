#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What cells or voxels are too wide for is told of: the error of dispersion covers Taylor's in a slit; bodies narrower than cells,
pores that diffusion does not resolve, a sample one cell long, pores and walls that `resample` closes or joins, padding, films at walls, walls that lag; what errors of steps are worth in a closed
box, concentrations below zero; and what is given is as clear as it can be: names of images in studies, pore volumes over time.

    unresolved.py --program KARST --mpiexec MPIEXEC
"""
import csv
import json
import sys

from support import Checks, image_deck, parser, program_and_folder

PULLED = '[flow]\nmodel = "stokes"\ndrive = "pressure-gradient"\naxes = ["x"]\n'
PUSHED = '[flow]\nmodel = "stokes"\ndrive = "pressure-drop"\naxes = ["x"]\n'


def box(low, high):
    return f'[[geometry.solid]]\nshape = "box"\nlo = {low}\nhi = {high}\n'


def grid(cells, periodic="[true, true, true]", width=1 / 16):
    """Cells of a sixteenth of a millimetre, or so many of them."""
    return f"[grid]\ncells = {cells}\nsize = {[1e-3 * width * n for n in cells]}\nperiodic = {periodic}\n"


def run(karst, folder, name, deck):
    (folder / f"{name}.toml").write_text(deck + '[output]\nplot = ["fraction"]\n')
    result = karst.run(["run", f"{name}.toml", "--out", name], folder)
    summary = folder / name / "summary.json"
    return result, json.loads(summary.read_text()) if result.status == 0 else {"warnings": []}


def told(summary, part):
    return any(part in str(w) for w in summary["warnings"])


def dispersion(karst, folder, check):
    """R. Aris, Proc. R. Soc. Lond. A 235 (1956) 67: D* / D = 1 + Pe² / 210 between plates, Pe with their distance."""
    solids = box([0, 0, 0], [1e-3, 0.31e-3, 1e-3])
    for estimate in "true", "false":
        _, summary = run(karst, folder, f"slit_{estimate}", solids + grid([32, 32, 1], width=1 / 32) + PULLED + f"""[dispersion]
axes = ["x"]
peclet = [1, 10, 100]
length = 0.69e-3
transverse = false
estimate_error = {estimate}
""")
        for point in summary["dispersion"]["columns"][0]["points"]:
            true = 1 + point["peclet"] ** 2 / 210
            if estimate == "false":
                check("no error of dispersion unasked", "longitudinal_error" not in point, point)
                continue
            off, error = abs(point["longitudinal"] - true), point["longitudinal_error"]
            check(f"error of dispersion, Pe {point['peclet']:g}", off <= error < 0.03 * true, f"{off} of {true}, {error} told")
    with open(folder / "slit_true" / "dispersion.csv") as file:
        rows = list(csv.DictReader(file))
    check("error in dispersion.csv", all(float(r["longitudinal_error"]) > 0 for r in rows), rows)


def bodies(karst, folder, check):
    """A plate of a hundredth of a cell lies between the places that the cells look at, and lets pass what it would close."""
    wall = box([0.1e-3, -1, -1], [0.3e-3, 0.5e-3, 1])
    ends = "[false, false, false]"
    for thickness, is_told in (0.01, True), (0.5, False):
        low = 11.27e-3 / 16
        plate = box([low, -1, -1], [low + thickness * 1e-3 / 16, 1, 1])
        result, summary = run(karst, folder, f"plate_{thickness}", wall + plate + grid([16, 16, 1], ends) + PUSHED)
        check(f"plate of {thickness} cells", told(summary, "1 of 2 described bodies (the first in geometry.solid[1])") == is_told,
              result)
    narrow = box([-1, -1, -1], [1, 7.65e-3 / 16, 1]) + box([-1, 8.35e-3 / 16, -1], [1, 1, 1])
    result, summary = run(karst, folder, "narrow", narrow + grid([16, 16, 1], ends) + '[diffusion]\naxes = ["x"]\n')
    check("diffusion through a slit without cell centres is not 0",
          summary.get("effective_diffusivity_m2_s", [[0]])[0][0] is None and told(summary, "is not 0, but not known"), result)
    result, _ = run(karst, folder, "short", box([-1, -1, -1], [1, 0.25e-3, 1]) + grid([1, 16, 16], ends) + PUSHED)
    check("a sample one cell long", result.status == 1 and "is 1 cell long" in result.err + result.out, result)


def resampling(karst, folder, check):
    """Slits of 5 and of 21 voxels between walls of 3 and 19 voxels, across y; two voxels become one."""
    for width, wall, is_told in (5, 3, True), (21, 19, False):
        size = [8, 2 * (width + wall) + wall, 8]
        (folder / "slits.raw").write_bytes(bytes(
            0 if y % (width + wall) >= wall else 1 for _ in range(size[2]) for y in range(size[1]) for _ in range(size[0])))
        result, summary = run(karst, folder, f"slits_{width}", image_deck("slits.raw", size, 1e-6) + "pore = 0\nresample = 2e-6\n"
                              + PUSHED)
        check(f"slits of {width} voxels", told(summary, "of the pore space is narrower than 4 of the voxels") == is_told, result)
        check(f"walls of {wall} voxels", told(summary, "of the solid is narrower than 2 of the voxels") == is_told, result)


def frames(karst, folder, check):
    """Blocks of 8³ voxels around which two planes of pore or of solid were added."""
    for value, added in (0, "pore"), (1, "solid"), (2, "nothing"):
        inside = range(2, 10) if value < 2 else range(12)
        (folder / "padded.raw").write_bytes(bytes(
            (1 if (x // 2 + y // 3 + z // 2) % 2 else 0) if {x, y, z} <= set(inside) else value
            for z in range(12) for y in range(12) for x in range(12)))
        result = karst.run(["import", "padded.raw", "-o", f"padded_{value}.h5", "--size", "12x12x12", "--type", "uint8", "--pore", "0",
                            "--voxel", "1um"], folder)
        for phase in "pore", "solid":
            told_of = f"first 2 and last 2 planes across y are {phase} alone" in result.out + result.err
            check(f"frame of {added}, {phase}", result.status == 0 and told_of == (phase == added), result)


def names(karst, folder, check):
    for place in "one", "two":
        (folder / place).mkdir()
        (folder / place / "rock.raw").write_bytes(bytes(0 if 2 < n % 8 < 6 else 1 for n in range(512)))
    (folder / "deck.toml").write_text(image_deck("one/rock.raw", [8, 8, 8], 1e-6) + 'pore = 0\n[flow]\nmodel = "stokes"\naxes = ["z"]\n'
                                      "estimate_error = false\n")
    (folder / "study.toml").write_text('deck = "deck.toml"\nimages = ["one/rock.raw", "two/rock.raw"]\n')
    result = karst.run(["study", "study.toml", "--out", "study"], folder)
    table = (folder / "study" / "study.csv").read_text() if result.status == 0 else ""
    check("images of one name in two folders", "one/rock.raw" in table and "two/rock.raw" in table, f"{table}\n{result}")


def over_time(karst, folder, check):
    """Pore volumes of history.csv: the velocity of the pores over their length, integrated over time by trapezia."""
    run(karst, folder, "started", box([-1, -1, -1], [1, 0.25e-3, 1]) + grid([16, 16, 1], "[false, false, true]")
        + PUSHED.replace('"stokes"', '"unsteady-stokes"') + "pressure_drop = 1e-3\n[time]\nend = 0.4\ndt = 0.02\n")
    with open(folder / "started" / "history.csv") as file:
        rows = list(csv.DictReader(file))
    volumes, before, last = 0.0, 0.0, 0.0
    for row in rows:
        velocity, time = float(row["darcy_velocity_x_m_s"]), float(row["time_s"])
        volumes += 0.5 * (velocity + last) / 0.75 / 1e-3 * (time - before)
        before, last = time, velocity
    check("pore volumes over time", abs(float(rows[-1]["pore_volumes"]) / volumes - 1) < 0.02 and volumes > 0,
          f"{rows[-1]['pore_volumes']} of {volumes}")


def films(karst, folder, check):
    """What a cylinder takes out of water that flows past: 3.226e-5 per area on 64 cells across, where the film is 6 of them thick."""
    for peclet, thin in (200, True), (20, False):
        _, summary = run(karst, folder, f"film_{peclet}", '[[geometry.solid]]\nshape = "cylinder"\ncenter = [0.4e-3, 0.25e-3, 0]\n'
                         "radius = 0.15e-3\n" + grid([32, 16, 1], "[false, true, true]", 1 / 32) + PUSHED + f"""estimate_error = false
[transport]
peclet = {peclet}
peclet_length = 0.2e-3
[[transport.component]]
name = "a"
inlet = 1
[[transport.wall]]
rate = 1e-2
[time]
end_pore_volumes = 3
""")
        check(f"film at Pe {peclet}", told(summary, "the film at the wall") == thin, summary["warnings"])
        if not thin:
            continue
        wall = summary["transport"]["components"][0]["wall"]
        off = 100 * (wall["loss_C_m3_s"] / wall["area_m2"] / 3.226e-5 - 1)
        error = [float(w.split("by some ")[1].split(" %")[0]) for w in summary["warnings"] if "the film at the wall" in w]
        check("error of the film", error and 10 < off < error[0] < 3 * off, f"{off} %, {error} told")


def below_zero(karst, folder, check):
    """Walls take more than diffuses to them."""
    for flux, negative in (1e-3, True), (1e-7, False):
        _, summary = run(karst, folder, f"flux_{flux:g}", box([-1, -1, -1], [1, 0.25e-3, 1]) + grid([16, 16, 1], "[false, false, true]")
                         + f"""[transport]
mode = "steady"
[[transport.component]]
name = "a"
inlet = 1
outlet = 1
[[transport.wall]]
flux = {flux}
""")
        check(f"flux of {flux:g}", told(summary, "are below zero") == negative, summary["warnings"])


def relaxation(karst, folder, check):
    """A closed box tends to equilibrium: after 100 s 1.2898e-4 mol/kgw of calcite have dissolved (a batch reactor in adaptive steps), and
    in the end steps do not matter."""
    for dt, end, least, most in (20, 100, 5, 20), (100, 10000, 0, 0.1):
        _, summary = run(karst, folder, f"box_{dt}", grid([4, 1, 1]) + f"""[chemistry]
[[chemistry.solution]]
pH = 4
totals = ["Na 1e-3", "Cl 1e-3 charge"]
[[chemistry.mineral]]
phase = "Calcite"
area = 1
amount = 1
rates = ["0.89 H+ 1", "6.6e-7"]
[time]
end = {end}
dt = {dt}
""")
        mineral = summary["chemistry"]["minerals"][0]
        error = 100 * mineral["step_error_mol"] / mineral["dissolved_mol"]
        check(f"error of steps of {dt} s", least < error < most and told(summary, "may be off by") == (least > 0), f"{error} % told")


def lag(karst, folder, check):
    """A slit widens by 1 % of its width, less than a wall moves at a time: 0.8083 by what has dissolved (quasi-steady walls: 0.80827)."""
    for displacement, behind in (0.5, True), (0.05, False):
        _, summary = run(karst, folder, f"lag_{displacement}", '[[geometry.solid]]\nshape = "plane"\npoint = [0, 1e-4, 0]\n'
                         'normal = [0, 1, 0]\nmineral = "salt"\n[grid]\ncells = [20, 10, 1]\nsize = [1e-3, 5e-4, 5e-5]\n'
                         f"""periodic = [false, false, true]
[[transport.component]]
name = "a"
initial = 100
inlet = 100
outlet = 100
[[transport.wall]]
rate = 1e-6
[walls]
displacement = {displacement}
[[walls.mineral]]
name = "salt"
molar_volume = 27e-6
[time]
end = 2000
dt = 100
""")
        warned = [w for w in summary["warnings"] if "walls.displacement" in w]
        check(f"lag of walls, {displacement}", bool(warned) == behind and (not behind or ", and 0.80" in warned[0]), f"{warned} {summary['porosity']}")


def main():
    check = Checks()
    with program_and_folder(parser(__doc__).parse_args()) as (karst, folder):
        for part in dispersion, bodies, resampling, frames, names, over_time, films, below_zero, relaxation, lag:
            part(karst, folder, check)
    return check.status


if __name__ == "__main__":
    sys.exit(main())

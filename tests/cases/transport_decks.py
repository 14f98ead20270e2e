#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Decks of transient transport, from the deck to the curves.

    transport_decks.py --program KARST --mpiexec MPIEXEC --inputs FOLDER [--full]

The first part of inputs/tracer and inputs/reactive, on 1 and 2 ranks: every step stays within the range of the data and
conserves mass, and so do the concentrations at the outlet; the curves of both runs are equal to the tolerance of the solves.

With --full inputs/tracer at Péclet number 1 past the stage of diffusion whose residuals alone stand still (at 4e-8, asked are 1e-8, after
374 steps): it is solved, within the same bounds.

inputs/reactive as a steady state: within 2 % of the end of the transient run (0.8755 at the outlet after 20 pore volumes), the same
on 1 and 2 ranks, its wall.vtp adds up to the loss; likewise inputs/reactive-rock on a small image, where a slow reaction
is that of a well-mixed fluid and a fast one is less than a third of it.

A front that is followed and that there never is: a warning.

With --full inputs/calcite-disc, until the wall takes the same at each step: its rate is that of body-fitted finite elements within
what is asked there (Molins et al., Comput. Geosci. 25 (2021) 1285)."""
import csv
import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

PORE_VOLUMES = 0.25
BOUNDS = 1e-13  # asked of any transport run
MASS = 1e-12
SAME = 1e-6  # of curves, on other ranks
RATE = 4.3356e-4  # of the disc [mol/m²/s]; own finite elements on four grids
RATE_WITHIN = 0.05
STEADY = 1e-4  # change of the rate over the last tenth of the steps


def lines(folder):
    with open(folder / "transport.csv", newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items() if value} for row in csv.DictReader(file)]


def wrong_with(rows, largest=1.0):
    """What a run of values from 0 to the largest does wrong, in words."""
    names = [key[:-len("_imbalance")] for key in rows[0] if key.endswith("_imbalance")]
    for row in rows:
        for name in names:
            if row[f"{name}_imbalance"] > MASS:
                yield f"{name}: a step misses {row[f'{name}_imbalance']}"
            values = [row[f"{name}_min"], row[f"{name}_max"]] + ([row[f"{name}_outlet"]] if f"{name}_outlet" in row else [])
            if min(values) < -BOUNDS * largest or max(values) > (1.0 + BOUNDS) * largest:
                yield f"{name}: {values} leave 0 to {largest:g} at {row['time_s']} s"


def wrong_with_slow_flow(karst, deck, folder):
    """The tracer at Péclet number 1, where diffusion passes as much of a cell in a step as the flow does."""
    out = Path(folder) / "slow"
    result = karst.run(["run", deck, "--out", out, "transport.peclet=1", "time.end_pore_volumes=0.95", "time.cfl=0.25",
                        "time.output_pore_volumes=0.95", "output.plot=[]"], folder)
    if result.status != 0:
        return [f"Péclet number 1: {result}"]
    rows = lines(out)
    found = [f"Péclet number 1: {text}" for text in wrong_with(rows)][:3]
    if len(rows) < 380:
        found.append(f"Péclet number 1: {len(rows)} steps, too few to meet residuals that stand still")
    return found


def wrong_with_disc(karst, deck, folder):
    """The same of the calcite disc, on a rank."""
    out = Path(folder) / "disc"
    result = karst.run(["run", deck, "--out", out, "time.cfl=1", "time.end_pore_volumes=2",
                        "time.output_pore_volumes=1", "output.plot=[]"], folder)
    if result.status != 0:
        return [f"disc: {result}"]
    rows = lines(out)
    found = [f"disc: {text}" for text in wrong_with(rows, largest=10.0)][:3]
    wall = json.loads((out / "summary.json").read_text())["transport"]["components"][0]["wall"]
    off = wall["loss_C_m3_s"] / wall["area_m2"] / RATE - 1.0
    change = rows[-1]["acid_wall_C_m3_s"] / rows[-len(rows) // 10]["acid_wall_C_m3_s"] - 1.0
    if abs(off) > RATE_WITHIN or abs(change) > STEADY:
        found.append(f"disc: rate {100 * off:+.2f} % off, changed by {change:.1e} at the end")
    print(f"disc: rate {100 * off:+.2f} % off, {result.seconds:.0f} s")
    return found


def surface(path):
    """The numbers per polygon of a wall.vtp, of all its pieces, by name."""
    data = path.read_bytes()
    begin = data.index(b"_", data.index(b"<AppendedData")) + 1
    head, arrays = data[:begin].decode(), {}
    for name, offset in re.findall(r'type="Float32" Name="(?!Points)([^"]+)" format="appended" offset="(\d+)"', head):
        at = begin + int(offset)
        size = struct.unpack_from("<Q", data, at)[0]
        arrays.setdefault(name, []).extend(struct.unpack_from(f"<{size // 4}f", data, at + 8))
    return arrays


def steady(karst, folder, deck, ranks, arguments):
    """The first component of a steady run; raises SystemExit with what went wrong."""
    out = Path(folder) / f"steady_{ranks}"
    result = karst.run(["run", deck, "--out", out, "--overwrite", "transport.mode=steady", "output.plot=[]", *arguments],
                       folder, ranks)
    if result.status != 0:
        sys.exit(f"{deck} on {ranks} ranks: {result}")
    found = json.loads((out / "summary.json").read_text())["transport"]["components"][0]
    wall, loss = surface(out / "wall.vtp"), found["wall"]["loss_C_m3_s"]
    total = sum(f * a for f, a in zip(wall["flux_acid"], wall["area_m2"]))
    if abs(total / loss - 1) > 1e-5:
        sys.exit(f"{deck}: the fluxes of wall.vtp add up to {total}, the loss is {loss}")
    return found


def steady_reactive(karst, folder, inputs):
    text = (inputs / "reactive" / "reactive.toml").read_text()
    text = re.sub(r"initial = .*\n|\[time\]\n(.+\n)*", "", text)
    deck = Path(folder) / "steady.toml"
    deck.write_text(text)
    found = [steady(karst, folder, deck, ranks, []) for ranks in (1, 2)]
    if abs(found[0]["outlet"] / 0.8755 - 1) > 0.002 or abs(found[0]["wall"]["loss_C_m3_s"] / 3.112e-12 - 1) > 0.02:
        yield f"steady reactive: outlet {found[0]['outlet']}, loss {found[0]['wall']['loss_C_m3_s']}"
    if abs(found[0]["outlet"] - found[1]["outlet"]) > SAME:
        yield f"steady reactive: outlet {found[0]['outlet']} and {found[1]['outlet']} on 1 and 2 ranks"


def steady_rock(karst, folder, inputs, generator):
    for command in ([generator, "-o", "rock.tif", "--size", "32", "--radius", "8", "--porosity", "0.3", "--voxel", "1e-5"],
                    [karst.program, "import", "rock.tif", "-o", "rock.h5"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, env=karst.environment(1))
    ratios = []
    for number in (0.01, 100):
        found = steady(karst, folder, inputs / "reactive-rock" / "reactive-rock.toml", 1,
                       [f"geometry.image={folder}/rock.h5", f"transport.wall[0].damkohler={number}"])
        ratios.append(found["wall"]["ratio_to_well_mixed"])
        if abs(found["wall"]["damkohler_diffusion"] / number - 1) > 1e-9 or found["largest_imbalance"] > 1e-4:
            yield f"steady rock: {found}"
    if not (0.99 < ratios[0] < 1.01 and 0 < ratios[1] < 0.33):
        yield f"steady rock: of the rate of a well mixed fluid {ratios}"


FRONT = """[[geometry.solid]]
shape = "sphere"
center = [0.5e-3, 0.5e-3, 0.5e-3]
radius = 0.3e-3
[grid]
cells = [16, 16, 16]
size = [1e-3, 1e-3, 1e-3]
box = 8
levels = 2
[[grid.refine]]
where = "front"
[[transport.component]]
name = "salt"
inlet = 1.0
[time]
end = 20
dt = 10
[output]
plot = []
"""


def wrong_with_fronts(karst, folder):
    """A front that there never is is told; one that there is, is not."""
    (Path(folder) / "front.toml").write_text(FRONT)
    for low, high, told in ((5, 9, True), (0.1, 0.9, False)):
        result = karst.run(["run", "front.toml", "--out", f"front_{low}", f"grid.refine[0].low={low}", f"grid.refine[0].high={high}"], folder)
        if result.status != 0 or ("nowhere found" in result.out + result.err) != told:
            yield f"a front from {low} to {high} of values from 0 to 1: {result}"


def main():
    arguments = parser(__doc__, generator=True)
    arguments.add_argument("--inputs", required=True, type=Path)
    arguments.add_argument("--full", action="store_true")
    given = arguments.parse_args()
    karst, failures = Karst(given.program, given.mpiexec), []
    with tempfile.TemporaryDirectory() as folder:
        for deck in ("tracer", "reactive"):
            runs = []
            for ranks in (1, 2) if given.full or deck == "tracer" else (2,):
                out = Path(folder) / f"{deck}_{ranks}"
                result = karst.run(["run", given.inputs.resolve() / deck / f"{deck}.toml", "--out", out,
                                    f"time.end_pore_volumes={PORE_VOLUMES}", "time.output_pore_volumes=0.2", "output.plot=[]"],
                                   folder, ranks)
                if result.status != 0:
                    failures.append(f"{deck} on {ranks} ranks: {result}")
                    continue
                runs.append(lines(out))
                failures += [f"{deck} on {ranks} ranks: {text}" for text in wrong_with(runs[-1])][:3]
            if len(runs) == 2 and (len(runs[0]) != len(runs[1]) or any(
                    abs(a[key] - b[key]) > SAME for a, b in zip(*runs) for key in a if key.endswith(("_outlet", "_mean")))):
                failures.append(f"{deck}: the curves of 1 and 2 ranks differ")
        failures += wrong_with_fronts(karst, folder)
        failures += steady_reactive(karst, folder, given.inputs.resolve())
        failures += steady_rock(karst, folder, given.inputs.resolve(), given.generator)
        if given.full:
            failures += wrong_with_slow_flow(karst, given.inputs.resolve() / "tracer" / "tracer.toml", folder)
            failures += wrong_with_disc(karst, given.inputs.resolve() / "calcite-disc" / "calcite-disc.toml", folder)
    print("\n".join(failures) or "passed: transport decks")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

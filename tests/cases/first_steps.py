#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The first steps of a new user: an image instead of a deck, a deck from `karst init`, samples that do not percolate.

first_steps.py --program KARST --mpiexec MPIEXEC
"""
import gzip
import json
import sys
import tempfile
from pathlib import Path

from support import Karst, parser, sphere_image

N, VOXEL = 16, "5.3um"
RAW = ["--size", f"{N}x{N}x{N}", "--type", "uint8", "--voxel", VOXEL, "--pore", "0"]
failures = []


def expect(holds, what, result=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{result}", flush=True)


class Steps:
    def __init__(self, karst, folder):
        self.karst, self.folder = karst, folder

    def run(self, *arguments, status=0, ranks=1):
        result = self.karst.run(arguments, self.folder, ranks=ranks, threads=2 // ranks)
        expect(result.status == status, f"karst {' '.join(arguments)} ends with status {status}", result)
        return result

    def summary(self, name):
        return json.loads((self.folder / name / "summary.json").read_text())

    def permeability(self, name):
        return self.summary(name)["permeability_m2"]


def image_for_deck(steps):
    """The same permeability from a compressed raw file with options, its geometry file, and the decks that these runs leave."""
    first = steps.run("run", "ball.raw.gz", *RAW)
    reference = steps.permeability("out/ball")
    expect(all(reference[d][d] > 0 for d in range(3)), "a permeability along x, y and z")
    steps.run("import", "ball.raw", "-o", "ball.h5", *RAW[:-2], "--pore", "0")
    steps.run("run", "ball.h5", "--out", "of_h5")
    expect(steps.permeability("of_h5") == reference, "the geometry file gives the same to the last bit")
    for name in ("out/ball", "of_h5"):
        steps.run("run", f"{name}/deck.toml", "--out", f"again/{name}")
        expect(steps.permeability(f"again/{name}") == reference, f"the deck in {name} gives the same")
    steps.run("run", "ball.h5", "flow.axes=z", "flow.pressure_drop=1kPa", "--out", "z", ranks=2)
    z = steps.summary("z")
    expect([f["axis"] for f in z["flow"]] == ["z"], "what is set behind an image holds")
    length = N * 5.3e-6
    expect(abs(z["flow"][0]["pressure_gradient_Pa_m"] * length / 1000 - 1) < 1e-12, "1kPa are 1000 Pa")
    expect(abs(z["permeability_m2"][2][2] / reference[2][2] - 1) < 1e-7, "the drive does not change the permeability")
    steps.run("check", "ball.h5")
    steps.run("geometry", "ball.raw.gz", *RAW, "--out", "geometry")
    again = steps.run("run", "ball.h5", status=1)
    expect("--overwrite" in again.err, "a second run does not replace the results", again)
    return first


def results_come_first(steps, result):
    """On the terminal the results, at its end once more in short; counts of cells and repairs in log.txt alone."""
    out, log = result.out, (steps.folder / "out/ball/log.txt").read_text()
    for words in ("Repairs", "boxes stored", "iterations, residual"):
        expect(words not in out, f"the terminal does not show \"{words}\"", result)
        expect(words in log, f"log.txt shows \"{words}\"", log)
    expect(out.index("\nPermeability, per cross-section") < out.index("Results in out/ball"), "results before files", result)
    last = [line for line in out.splitlines() if line][-4:]
    expect([line.split(":")[0] for line in last] == [f"Permeability along {d}" for d in "xyz"] + ["Porosity"],
           "the last lines are what the user came for", result)
    expect("estimated error" in last[0] and " m2, " in last[0], "with its error and units", result)
    expect("\r" not in out and "\x1b" not in out, "no line of a terminal in a file", result)
    expect("drag / driving force" in out and "accurate" in out, "the drag is explained where it stands", result)


def init(steps):
    """Decks of `karst init` are right, and are never written over anything."""
    steps.run("init")
    expect("packing of spheres" in steps.run("init", "spheres.toml").out, "what the deck is about is said")
    steps.run("check", "deck.toml")
    text = (steps.folder / "deck.toml").read_text()
    second = steps.run("init", status=1)
    expect("deck.toml: exists" in second.err, "an existing deck stays", second)
    expect((steps.folder / "deck.toml").read_text() == text, "as it was")
    (steps.folder / "decks").mkdir()
    steps.run("init", "decks/ball.toml", "--image", "ball.h5")
    steps.run("run", "decks/ball.toml", "--out", "of_init")
    expect(steps.permeability("of_init") == steps.permeability("of_h5"), "the deck of an image asks for what the image asks for")
    steps.run("init", "raw.toml", "--image", "ball.raw.gz", *RAW)
    steps.run("check", "raw.toml")
    # Every default may be written as it stands: all comments that are keys with a value, uncommented, change nothing.
    tables = ("[fluid]", "[output]")
    lines, table = [], ""
    for line in (steps.folder / "decks/ball.toml").read_text().splitlines():
        bare = line.removeprefix("#")
        if bare.startswith("[") and bare.endswith("]"):
            table = bare
        wanted = table in tables and not bare.startswith(" ")
        lines.append(bare if wanted else line)
    (steps.folder / "decks/all.toml").write_text("\n".join(lines))
    steps.run("check", "decks/all.toml")
    wrong = steps.run("init", "new.toml", "--image", "none.h5", status=1)
    expect("there is no image none.h5" in wrong.err and not (steps.folder / "new.toml").exists(), "no deck of no image", wrong)


def init_of_jobs(steps):
    """Each deck is right, and runs on a small image."""
    for job in ("tracer", "reaction", "chemistry", "flow-in-time"):
        steps.run("init", f"{job}.toml", "--job", job, "--image", "ball.h5")
        steps.run("check", f"{job}.toml")
        short = {"flow-in-time": ["time.end=0.4ms", "time.output=0.4ms"], "reaction": [], "chemistry": ["time.end_pore_volumes=0.02"],
                 "tracer": ["time.end_pore_volumes=0.05", "time.output_pore_volumes=0.05"]}[job]
        steps.run("run", f"{job}.toml", "--out", f"of_{job}", *short)
        steps.run("init", f"{job}_spheres.toml", "--job", job)
        steps.run("check", f"{job}_spheres.toml")
    for name, image, n in (("spheres", [], 3), ("h5", ["--image", "ball.h5"], 3), ("raw", ["--image", "ball.raw.gz", *RAW], 8)):
        steps.run("init", f"study_{name}.toml", "--job", "study", *image)
        expect(f"{n} cases of" in steps.run("study", f"study_{name}.toml", "--list").out, f"a study of {n} cases: {name}")
        steps.run("check", f"study_{name}_deck.toml")
        expect("[flow]" not in (steps.folder / f"study_{name}.toml").read_text(), "a study has tables of its own alone")
    steps.run("init", "study_h5_deck.toml", "--job", "study", status=1)
    steps.run("study", "study_h5.toml")
    table = (steps.folder / "out/study/study.csv").read_text().splitlines()
    expect(len(table) == 4 and all(row.split(",")[1] == "completed" for row in table[1:]), "the study runs")
    wrong = steps.run("init", "new.toml", "--job", "traser", status=1)
    expect("the jobs are permeability, tracer" in wrong.err, "the jobs are named", wrong)
    (steps.folder / "short.toml").write_text('[geometry]\nimage = "ball.h5"\n[flow]\nmodel = "stokes"\n[output]\ndirectory = "of_short"\n')
    steps.run("run", "short.toml")
    expect(steps.permeability("of_short") == steps.permeability("of_h5"), "a flow through an image has the drive of `karst run IMAGE`")


def nothing_leads(steps):
    """A channel along z: x and y have the permeability 0. A closed sample has it along all axes. Both are results."""
    channel = bytes(0 if 4 <= x < 12 and 4 <= y < 12 else 1 for z in range(N) for y in range(N) for x in range(N))
    closed = bytes(0 if all(4 <= i < 12 for i in (x, y, z)) else 1 for z in range(N) for y in range(N) for x in range(N))
    for name, image, axes in (("channel", channel, "z"), ("closed", closed, "")):
        (steps.folder / f"{name}.raw").write_bytes(image)
        result = steps.run("run", f"{name}.raw", *RAW, "diffusion.axes=x,y,z", ranks=2 if axes else 1)
        summary = steps.summary(f"out/{name}")
        for d, axis in enumerate("xyz"):
            k, flow, f = summary["permeability_m2"][d][d], summary["flow"][d], summary["formation_factor"][d]
            if axis in axes:
                expect(k > 0 and flow["percolates"] and f > 1, f"{name}: something leads along {axis}")
                continue
            expect(k == 0 and not flow["percolates"] and flow["tortuosity"] is None and f is None,
                   f"{name}: permeability 0 along {axis}")
            expect(f"flow {axis}: no pore percolates" in result.err, f"{name}: a warning of {axis}", result)
            expect(f"Permeability along {axis}: 0 m2" in result.out, f"{name}: 0 is said of {axis}", result)
        expect((steps.folder / f"out/{name}/report.html").stat().st_size > 1000, f"{name}: a page")
        expect(len(summary["solves"]) == (0 if not axes else len(summary["solves"])), f"{name}: nothing solved for nothing")
    steps.run("report", "out/closed")
    checked = steps.run("check", "channel.raw", *RAW)
    expect(all(f"no pore percolates through the sample along {axis}: the permeability is 0" in checked.err for axis in "xy"),
           "karst check warns of it", checked)


def main():
    arguments = parser(__doc__).parse_args()
    karst = Karst(arguments.program, arguments.mpiexec)
    with tempfile.TemporaryDirectory() as folder:
        steps = Steps(karst, Path(folder))
        image = sphere_image(N, 6)
        (steps.folder / "ball.raw").write_bytes(image)
        with gzip.open(steps.folder / "ball.raw.gz", "wb") as file:
            file.write(image)
        results_come_first(steps, image_for_deck(steps))
        init(steps)
        init_of_jobs(steps)
        nothing_leads(steps)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

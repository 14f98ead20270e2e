#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst report` writes the same report as `karst run`, to the byte, on any ranks; without a plotfile a report without
pictures; also with reservoirs and diffusion. It contains the warnings of the import. Other folders than those of a run are rejected.

    report.py --program KARST --mpiexec MPIEXEC
"""
import json
import re
import sys
import tempfile
from pathlib import Path

from support import Karst, parser, sphere_deck

FLOW = """[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["x", "z"]
"""
DECKS = {"flow": FLOW, "reservoirs": FLOW + "reservoir = 4\n", "diffusion": '[diffusion]\naxes = ["y"]\n',
         "both": FLOW + '[diffusion]\naxes = ["x", "y"]\n'}
PLOT = {"flow": '["velocity"]', "reservoirs": '["velocity", "fraction"]', "diffusion": '["concentration"]',
        "both": '["concentration", "velocity"]'}
PICTURES = {"flow": 4, "reservoirs": 4, "diffusion": 1, "both": 6}


def check(karst, folder, name):
    (folder / f"{name}.toml").write_text(sphere_deck() + DECKS[name])
    run = karst.run(["run", f"{name}.toml", "--out", name, f"output.plot={PLOT[name]}"], folder, 2)
    if run.status != 0:
        return [f"{name}: {run}"]
    page = folder / name / "report.html"
    first, found = page.read_bytes(), []
    if first.count(b"<figure>") != PICTURES[name]:
        found.append(f"{name}: {first.count(b'<figure>')} pictures")
    for word in (b"<script", b"http://", b"https://"):
        if word in first:
            found.append(f"{name}: the page holds {word}")
    for ranks in (1, 3):
        page.unlink()
        again = karst.run(["report", name], folder, ranks)
        if again.status != 0 or page.read_bytes() != first:
            found.append(f"{name}: karst report on {ranks} ranks makes another page: {again}")
    summary = folder / name / "summary.json"
    whole = summary.read_text()
    if '"axis": "' in whole:  # a value of another type, met when the pictures are drawn
        summary.write_text(re.sub('"axis": "."', '"axis": true', whole))
        wrong = karst.run(["report", name], folder)
        if wrong.status != 1 or "summary.json" not in wrong.err or "This is a bug" in wrong.err:
            found.append(f"{name}: a wrong summary: {wrong}")
        summary.write_text(whole)
    for plot in (folder / name).glob("plot*.vtkhdf"):
        plot.unlink()
    bare = karst.run(["report", name], folder)
    if bare.status != 0 or "without renderings" not in bare.out or b"<figure>" in page.read_bytes():
        found.append(f"{name}: without plotfile: {bare}")
    print("FAILED" if found else "passed", name, f"{len(first)} bytes", "; ".join(found), flush=True)
    return found


def check_warnings(karst, folder):
    """What the import warned of stands on every page and in every summary of what uses the image, imported before or on the
    way; a permeability beyond what rocks have is asked for."""
    image = bytes(int(x % 8 < 4 and y % 8 < 4 and z % 8 < 4) for z in range(16) for y in range(16) for x in range(16))
    (folder / "rock.raw").write_bytes(image)
    wide = ["size = [16, 16, 16]", 'type = "uint8"', "voxel = 2e-2", "pore = 0"]
    (folder / "named.toml").write_text('[geometry]\nimage = "rock.raw"\n[geometry.import]\n' + "\n".join(wide) + "\n" + FLOW)
    (folder / "made.toml").write_text('[geometry]\nimage = "rock.h5"\n' + FLOW)
    made = karst.run(["import", "rock.raw", "-o", "rock.h5", "--size", "16,16,16", "--type", "uint8", "--voxel", "2cm", "--pore",
                      "0"], folder)
    found = [] if "20.0 mm wide" in made.out else [f"import: {made}"]
    words = ["import: voxels are 20.0 mm wide", "permeability of"]
    for name in ("named", "made"):
        for command in ("run", "geometry", "check"):
            out = [] if command == "check" else ["--out", f"{name}_{command}"]
            result = karst.run([command, f"{name}.toml", *out], folder)
            told = result.err.count("warning: import: voxels are 20.0 mm wide")
            if result.status != 0 or told != 1:
                found.append(f"{command} {name}: told {told} times: {result}")
            if command == "check":
                continue
            warnings = json.loads((folder / f"{name}_{command}" / "summary.json").read_text())["warnings"]
            for word in words if command == "run" else words[:1]:
                if not any(word in w for w in warnings):
                    found.append(f"{command} {name}: no '{word}' in {warnings}")
        karst.run(["report", f"{name}_run"], folder)
        page = (folder / f"{name}_run" / "report.html").read_text()
        if "No warnings." in page or any(word not in page for word in words):
            found.append(f"{name}: the page does not show the warnings")
    print("FAILED" if found else "passed", "warnings", "; ".join(found), flush=True)
    return found


def check_refused(karst, folder):
    """Directories that hold no results of a run end with status 1 and words that say so."""
    found = []
    for name, summary, words in [("none", None, ["summary.json", "karst run"]),
                                 ("geometry", '{"karst": "0"}', ["karst geometry", "karst run"]),
                                 ("broken", '{"solves": [], "title": 3}', ["summary.json", "a whole number instead of a text"]),
                                 ("text", "not JSON", ["summary.json", "not JSON"])]:
        if summary is not None:
            (folder / name).mkdir()
            (folder / name / "summary.json").write_text(summary)
            (folder / name / "deck.toml").write_text("")
        result = karst.run(["report", name], folder)
        if result.status != 1 or not all(word in result.err for word in words):
            found.append(f"{name}: {result}")
    print("FAILED" if found else "passed", "refused", "; ".join(found), flush=True)
    return found


def main():
    options = parser(__doc__).parse_args()
    karst = Karst(options.program, options.mpiexec)
    with tempfile.TemporaryDirectory(prefix="karst_case_") as place:
        problems = [p for name in DECKS for p in check(karst, Path(place), name)]
        problems += check_warnings(karst, Path(place)) + check_refused(karst, Path(place))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

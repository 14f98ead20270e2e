#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Image -> `karst import` -> `karst geometry`: the same counts and the same porosity (1e-10) for any number of ranks and
threads and any box size, also when the deck imports the image. `karst check` writes nothing.

    same_answer.py --program KARST --mpiexec MPIEXEC [--full]

In short some combinations, each number and width in two of them or more; with --full all.
"""
import itertools
import json
import random
import sys

from support import contents, parser, program_and_folder

SIZE = (40, 36, 30)  # no multiples of any box size
FREE_TO_DIFFER = {"boxes", "boxes_pruned", "slots"}  # of summary.json's cells: storage, not geometry
SHORT = ((1, 1, 8), (1, 2, 32), (2, 1, 32), (2, 2, 16), (4, 1, 16), (4, 2, 8))  # ranks, threads, box


def packing(size, seed=3, balls=40):
    """Raw 8-bit image: overlapping solid balls (1) in a pore (0), radius 4 to 7 voxels, with two isolated pores."""
    rng = random.Random(seed)
    image = bytearray(size[0] * size[1] * size[2])
    places = [([rng.uniform(0, n) for n in size], rng.uniform(4, 7), 1) for _ in range(balls)]
    places += [([20, 18, 15], 7, 1), ([20, 18, 15], 3, 0), ([8, 8, 8], 6, 1), ([8, 8, 8], 2, 0)]
    for centre, radius, value in places:
        ranges = [range(max(0, int(c - radius)), min(n, int(c + radius) + 1)) for c, n in zip(centre, size)]
        for z in ranges[2]:
            for y in ranges[1]:
                for x in ranges[0]:
                    if sum((i + .5 - c) ** 2 for i, c in zip((x, y, z), centre)) < radius ** 2:
                        image[(z * size[1] + y) * size[0] + x] = value
    return bytes(image)


def run(karst, folder, name, ranks, threads, box):
    result = karst.run(["geometry", "deck.toml", "--out", name, "-j", threads, f"grid.box={box}"], folder, ranks)
    if result.status != 0:
        sys.exit(f"{name} failed: {result}")
    summary = json.loads((folder / name / "summary.json").read_text())
    assert summary["ranks"] == ranks and summary["threads"] == threads, summary
    return summary


def differences(a, b):
    for key in ("porosity", "connected_porosity", "specific_surface_per_m"):
        if abs(a[key] - b[key]) > 1e-10 * abs(a[key]):
            yield f"{key} {a[key]!r} against {b[key]!r}"
    if a["percolates"] != b["percolates"]:
        yield f"percolates {a['percolates']} against {b['percolates']}"
    for key in a["cells"]:
        if key not in FREE_TO_DIFFER and a["cells"][key] != b["cells"][key]:
            yield f"cells.{key} {a['cells'][key]} against {b['cells'][key]}"


def check_other_ways(karst, folder, first):
    """The deck imports the raw image by itself; `karst check` of both decks. Returns what is wrong."""
    (folder / "raw.toml").write_text('[geometry]\nimage = "rock.raw"\n[geometry.import]\nsize = [40, 36, 30]\n'
                                     'type = "uint8"\nvoxel = 5e-6\npore = 0\n')
    before = contents(folder)
    for deck in ("deck.toml", "raw.toml"):
        result = karst.run(["check", deck], folder, ranks=2)
        if result.status != 0 or contents(folder) != before:
            yield f"karst check {deck} fails or writes: {result}"
    result = karst.run(["geometry", "raw.toml", "--out", "raw"], folder, ranks=2)
    if result.status != 0:
        yield f"raw.toml: {result}"
        return
    yield from differences(first, json.loads((folder / "raw" / "summary.json").read_text()))
    names = {p.name for p in (folder / "raw").iterdir()}
    wanted = {"summary.json", "deck.toml", "geometry.vtkhdf", "timers.txt", "timers.json", "log.txt", "imported_image.h5"}
    if names != wanted:
        yield f"files {sorted(names)}, wanted {sorted(wanted)}"


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true", help="all ranks with all threads and boxes")
    options = arguments.parse_args()
    failed = 0
    with program_and_folder(options) as (karst, folder):
        (folder / "rock.raw").write_bytes(packing(SIZE))
        (folder / "deck.toml").write_text('[geometry]\nimage = "rock.h5"\n')
        result = karst.run(["import", "rock.raw", "-o", "rock.h5", "--size", "40,36,30", "--type", "uint8", "--voxel",
                            "5e-6", "--pore", "0", "--json", "import.json"], folder)
        if result.status != 0:
            sys.exit(f"import failed: {result}")
        json.loads((folder / "import.json").read_text())
        first = run(karst, folder, "first", 1, 1, 16)
        print(f"porosity {first['porosity']:.6f}, connected {first['connected_porosity']:.6f}, {first['cells']}")
        assert 0.1 < first["porosity"] < 0.9 and first["connected_porosity"] < first["porosity"], "a poor test image"
        for problem in check_other_ways(karst, folder, first):
            print("FAILED", problem)
            failed += 1
        for ranks, threads, box in itertools.product((1, 2, 4), (1, 2), (8, 16, 32)) if options.full else SHORT:
            name = f"ranks{ranks}_threads{threads}_box{box}"
            found = list(differences(first, run(karst, folder, name, ranks, threads, box)))
            print("FAILED" if found else "passed", name, "; ".join(found), flush=True)
            failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

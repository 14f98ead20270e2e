#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Both chemistry engines, Karst and PHREEQC (chemistry.engine), on the same decks, against reference values and each other.

    phreeqcrm.py --program KARST --mpiexec MPIEXEC --inputs INPUTS [--instead KARST]

G2, G3 and G7 of docs/verification.md. Skipped (status 77) if Karst was built without KARST_PHREEQCRM; --instead: the program that
is used if it exists (tools/test.sh --nightly builds it).
"""
import csv
import re
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

ENGINES = ("karst", "phreeqcrm")

CO2_AND_CALCITE = """
[[chemistry.solution]]
name = "under CO2"
pH = "charge"
totals = ["C(4) 1e-3 CO2(g) 0"]
[[chemistry.solution]]
name = "with calcite"
pH = "charge"
totals = ["C(4) 1e-2 CO2(g) 0", "Ca 1e-3 Calcite 0"]
[[chemistry.solution]]
name = "in air"
pH = "charge"
totals = ["C(4) 1e-3 CO2(g) -3.4", "Ca 1e-3 Calcite 0"]
"""
PHASES = """
[[chemistry.solution]]
name = "water"
[[chemistry.equilibrium]]
phase = "CO2(g)"
[[chemistry.equilibrium]]
phase = "Calcite"
"""
# The chemistry of CrunchFlow's column (Amanzi's benchmarks); PHREEQC wants H2 and O2, which nothing here makes.
DATABASE = (Path(__file__).resolve().parents[1] / "support/calcite_column.dat").read_text()
DATABASE = DATABASE.replace("\nSOLUTION_SPECIES\n", "\nH(0) H2 0 H\nO(0) O2 0 O\nSOLUTION_SPECIES\n").replace(
    "\nPHASES\n", "\n2 H+ + 2 e- = H2\nlog_k -3.15\n2 H2O = O2 + 4 H+ + 4 e-\nlog_k -86.08\nPHASES\n") + "END\n"
# A hundred cells of a metre, all of them bulk: there is no solid. 250 kg of water, 100 m2 and 1e-5 m3 of
# calcite (36.934 cm3/mol) are in a cubic metre of bulk.
COLUMN = """
[grid]
size = [100, 1, 1]
cells = [100, 1, 1]
periodic = [false, true, true]
[flow]
model = "stokes"
drive = "velocity"
velocity = 3.1709792e-8
axes = ["x"]
estimate_error = false
[transport]
diffusivity = 1e-9
[chemistry]
database = "column.dat"
initial = "start"
inlet = "acid"
[[chemistry.solution]]
name = "start"
pH = 8
totals = ["C 1.70986e-3", "Ca 5.65435e-4"]
[[chemistry.solution]]
name = "acid"
pH = "charge"
totals = ["C 1e-3", "Ca 1.69361e-5"]
[[chemistry.mineral]]
phase = "Calcite"
area = 0.4
amount = 1.08301e-3
rates = ["1e-9"]
[time]
end = 1.57788e9
[output]
plot = ["fraction"]
"""
failures = []


def check(name, good, text):
    print(f"{name}: {'as wanted' if good else 'WRONG'}; {text}")
    if not good:
        failures.append(name)


def ratio(a, b):
    return abs(a / b - 1.0)


class Engines:
    def __init__(self, karst, folder):
        self.karst, self.folder = karst, folder

    def speciate(self, engine, deck, table=""):
        """{(solution, time, kind, name): value} of a table."""
        file = self.folder / f"{engine}.csv"
        done = self.karst.run(["speciate", deck, "-o", file, "--overwrite", f'chemistry.engine="{engine}"'], cwd=self.folder)
        if done.status:
            sys.exit(str(done))
        print(re.search("Engine: .*", done.out)[0])
        rows = csv.DictReader((self.folder / f"{engine}{table}.csv").open())
        return {(r["solution"], r.get("time_s", ""), r["kind"], r["name"]): float(r["value"]) for r in rows if r["value"]}

    def both(self, text, table=""):
        deck = self.folder / "deck.toml"
        deck.write_text(text)
        return {engine: self.speciate(engine, deck, table) for engine in ENGINES}


def g2(engines):
    """PHREEQC's figures for CO2 and calcite; both engines agree in every species."""
    found = engines.both(CO2_AND_CALCITE)
    wanted = {("under CO2", "pH"): 3.911, ("with calcite", "pH"): 6.007, ("with calcite", "Ca"): 8.868e-3,
              ("in air", "pH"): 8.224, ("in air", "Ca"): 5.433e-4}
    for engine in ENGINES:
        for (solution, name), value in wanted.items():
            is_ph = name == "pH"
            it = found[engine][solution, "", "property" if is_ph else "total", name]
            check(f"G2, {engine}, {solution}, {name}", abs(it - value) < 6e-4 if is_ph else ratio(it, value) < 1e-4, it)
    one, other = found.values()
    off = max(ratio(other[k], v) for k, v in one.items() if k[2] == "species" and v > 1e-20)
    check("G2, all species of both", off < 1e-6, f"{off:.1e}")


def equilibria(engines):
    """Calcite and CO2 come to equilibrium with pure water: as the solution that is described by them."""
    found = engines.both(PHASES.join(["[chemistry]", ""]))
    for engine in ENGINES:
        ph, calcium = (found[engine]["water", "", kind, name] for kind, name in
                       (("equilibrium_property", "pH"), ("equilibrium_total", "Ca")))
        check(f"G2, {engine}, as equilibrium phases", abs(ph - 6.007) < 6e-4 and ratio(calcium, 8.868e-3) < 1e-4, f"{ph} {calcium}")


def g3(engines, inputs):
    """Calcite in hydrochloric acid; PHREEQC integrates to 1e-10, Karst to a part in a thousand of what has dissolved."""
    found = engines.both((inputs / "speciation" / "batch.toml").read_text(), "_batch")
    one, other = found.values()
    for name, most in (("Ca", 5e-4), ("pH", 2e-3)):
        keys = [k for k in one if k[3] == name and k[2] in ("total", "property")]
        off = max(abs(one[k] - other[k]) if name == "pH" else ratio(other[k], one[k]) for k in keys)
        check(f"G3, {name} of both at {len(keys)} times", len(keys) == 7 and off < most, f"{off:.1e}")
    wanted = [8.893e-6, 7.952e-5, 7.447e-4, 4.209e-3, 5.625e-3, 6.148e-3, 7.874e-3]
    calcium = [v for k, v in other.items() if k[2:] == ("total", "Ca")]
    check("G3, phreeqcrm", all(ratio(a, b) < 2e-3 for a, b in zip(calcium, wanted)), calcium)


def g7(engines):
    """The column against CrunchFlow, and both engines cell by cell."""
    (engines.folder / "column.dat").write_text(DATABASE)
    (engines.folder / "column.toml").write_text(COLUMN)
    profiles = {}
    for engine in ENGINES:
        out = engines.folder / engine
        done = engines.karst.run(["run", "column.toml", "--out", out, f'chemistry.engine="{engine}"'], cwd=engines.folder, threads=2)
        if done.status:
            sys.exit(str(done))
        print(" ".join(re.search(r"engine +(\S+)\n +threads +(\d+)", done.out).expand(r"G7: engine \1, \2 threads").split()))
        rows = [r for r in csv.DictReader((out / "profiles.csv").open()) if r["Ca"]]
        end = max(float(r["time_s"]) for r in rows)
        cells = {float(r["position_m"]): {e: float(r[e]) for e in ("H", "C", "Ca")} for r in rows if float(r["time_s"]) == end}
        profiles[engine] = cells
        plateau = {"H": 5.24791e-5, "C": 1.91363e-3, "Ca": 9.30602e-4}
        off = max(ratio(cells[x][e], v) for x in (25.5, 30.5, 35.5) for e, v in plateau.items())
        check(f"G7, {engine}, plateau", off < 3e-3, f"{off:.1e}")
        front = [x for x in cells if x < 40 and 1.1 * 1.69361e-5 < cells[x]["Ca"] < 0.9 * 9.30602e-4]
        check(f"G7, {engine}, front", front == [22.5], front)
        imbalance = float(re.search(r"largest imbalance of an element in a step +(\S+)", done.out)[1])
        check(f"G7, {engine}, elements", imbalance < 1e-12, imbalance)
    one, other = profiles.values()
    off = max(ratio(other[x][e], v) for x in one for e, v in one[x].items() if not 21 < x < 24)
    check("G7, all cells of both but the front", off < 1e-3, f"{off:.1e}")


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--inputs", required=True, type=lambda path: Path(path).resolve())
    arguments.add_argument("--instead", type=Path)
    arguments = arguments.parse_args()
    there = arguments.instead and arguments.instead.exists()
    karst = Karst(arguments.instead if there else arguments.program, arguments.mpiexec)
    with tempfile.TemporaryDirectory(prefix="karst_phreeqcrm_") as name:
        engines = Engines(karst, Path(name))
        deck = Path(name) / "asks.toml"
        deck.write_text('[chemistry]\nengine = "phreeqcrm"\n[[chemistry.solution]]\n')
        asked = karst.run(["speciate", deck], cwd=name)
        if asked.status and "KARST_PHREEQCRM" in asked.err:
            print("skipped: Karst was built without KARST_PHREEQCRM (tools/build_phreeqcrm.sh)")
            return 77
        g2(engines)
        equilibria(engines)
        g3(engines, arguments.inputs)
        g7(engines)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

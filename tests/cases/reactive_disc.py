#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The calcite disc of Molins et al. (Comput. Geosci. 25 (2021) 1285, part I) with chemistry: mean rate of the disc against
body-fitted finite elements (computed for this test, four grids).

    reactive_disc.py --program KARST --mpiexec MPIEXEC --inputs FOLDER [--full]

inputs/calcite-disc/chemistry.toml, advanced in time until the rate is constant, with
one acid:   a database without activities, in which a mole of calcite consumes one of acid, CaCO3 + H+ = Ca+2 + HCO3-: the
            benchmark itself, k = 8.91251e-4 m/s;
all:        phreeqc.dat, hydrochloric acid in sodium chloride of 0.1 mol/kgw with complexes, activities, and the dissociation of
            water and CO2. As carbonate becomes CO2, a mole of calcite consumes two moles of acid, so that with half of the rate
            constant the acid flux to the wall is that of the benchmark, and half as much calcite dissolves. (Behind the disc acid
            falls to 0.012 of the inlet's, pH 3.9, where less than 1 % of the carbonate is HCO3-.)
Required: 5 % with 128 x 64 cells, 2 % with 256 x 128 (--full); elements and charge are conserved in every step to 1e-12.
"""
import csv
import json
import re
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

RATE = 4.3356e-4  # [mol/m²/s] of calcite for one mole of acid each, inlet 10 mol/m³
K, INLET = 8.91251e-4, 10.0  # [m/s], [mol/m³]
WATER = 997.047  # [kg/m³] at 25 °C
BALANCE, STEADY = 1e-12, 2e-4  # the latter: change of the rate over the last tenth of the steps
IDEAL = "\n-gamma 1e9 0\n"  # ln γ = -A z² √I / (1 + 1e9 B √I)
ACID = ("SOLUTION_MASTER_SPECIES\nH H+ -1 H 1.008\nO H2O 0 O 16\nCl Cl- 0 Cl 35.45\nCa Ca+2 0 Ca 40.08\nC HCO3- 1 HCO3 12.01\n"
        f"SOLUTION_SPECIES\nH+ = H+{IDEAL}H2O = H2O\nCl- = Cl-{IDEAL}Ca+2 = Ca+2{IDEAL}HCO3- = HCO3-{IDEAL}"
        f"H2O = OH- + H+\nlog_k -14{IDEAL}PHASES\nCalcite\nCaCO3 + H+ = Ca+2 + HCO3-\nlog_k 30\n")


def acidity(karst, folder, text):
    """Total and activity of H+ in the acid [mol/kgw]."""
    deck = folder / "acid.toml"
    deck.write_text("[chemistry]\n" + re.search(r"database = .*\n", text)[0] + re.search(r'\[\[chemistry.solution\]\]\nname = "acid"\n(.*\n)*?\n', text)[0])
    done = karst.run(["speciate", deck, "-o", folder / "acid.csv", "--overwrite"], folder)
    rows = list(csv.DictReader((folder / "acid.csv").open()))
    species = {row["name"]: row for row in rows if row["kind"] == "species"}
    return sum(float(row["value"]) for name, row in species.items() if name in ("H+", "HCl")), float(species["H+"]["activity"]), done


def disc(karst, folder, text, per_acid, cells):
    """Error of the rate and what is wrong with a run; calcite per mole of acid is `per_acid`."""
    total, activity, done = acidity(karst, folder, text)
    if done.status != 0:
        return None, [str(done)]
    constant = K * WATER * total * per_acid / activity  # K c = constant a / per_acid
    text = re.sub(r"rates = .*\n", f'rates = ["{constant!r} H+ 1"]\n', text)
    deck = folder / "deck.toml"
    deck.write_text(text.replace("[128, 64, 1]", f"[{2 * cells}, {cells}, 1]").replace("7.8125e-6", repr(0.5e-3 / cells)))
    result = karst.run(["run", deck, "--out", folder / "out", "--overwrite", "output.plot=[]"], folder)
    if result.status != 0:
        return None, [str(result)]
    rows = list(csv.DictReader((folder / "out" / "chemistry.csv").open()))
    found = [f"{key} {row[key]} at {row['time_s']} s" for row in rows for key in row if key.endswith("_imbalance") and float(row[key]) > BALANCE][:3]
    rates = [float(row["calcite_rate_mol_s"]) for row in rows]
    if abs(rates[-1] / rates[-len(rates) // 10] - 1.0) > STEADY:
        found.append(f"the rate still changes by {rates[-1] / rates[-len(rates) // 10] - 1.0:.1e}")
    area = json.loads((folder / "out" / "summary.json").read_text())["chemistry"]["minerals"][0]["area_m2"]
    off = rates[-1] / area / (RATE * WATER * total / INLET * per_acid) - 1.0
    print(f"{2 * cells} x {cells}: rate {100 * off:+.2f} % off, {len(rates)} steps, {result.seconds:.0f} s", flush=True)
    return off, found


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--inputs", type=Path, required=True)
    arguments.add_argument("--full", action="store_true")
    given = arguments.parse_args()
    karst = Karst(given.program, given.mpiexec)
    text = (given.inputs.resolve() / "calcite-disc" / "chemistry.toml").read_text()
    one = text.replace('"phreeqc.dat"', '"acid.dat"').replace('"Na 0.1", "Cl 0.1"', "").replace('["Na 0.1", "Cl 0.11 charge"]', '["Cl 0.01 charge"]')
    one = one.replace('pH = "charge"', "pH = 7").replace('"CO2", ', "")
    failures = []
    with tempfile.TemporaryDirectory(prefix="karst_disc_") as name:
        folder = Path(name)
        (folder / "acid.dat").write_text(ACID)
        for what, described, per_acid in (("one acid", one, 1.0), ("all", text, 0.5)):
            for cells, asked in ((64, 0.05), (128, 0.02))[:2 if given.full else 1]:
                print(what, end=", ")
                off, found = disc(karst, folder, described, per_acid, cells)
                failures += [f"{what}, {cells} cells: {problem}" for problem in found]
                if off is not None and abs(off) > asked:
                    failures.append(f"{what}, {cells} cells: rate {100 * off:+.2f} % off, asked {100 * asked:g} %")
    print("\n".join(failures) or "passed: disc through the chemistry")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

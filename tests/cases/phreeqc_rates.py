#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Minerals with the rates of a compilation against PHREEQC: dissolved amounts over time in an acid and a basic water.

    phreeqc_rates.py --program KARST --databases FOLDER

PHREEQC gets the same phreeqc.dat and palandri-kharaka.dat, and integrates RATE_PK times area times 1 - saturation ratio.
Without PhreeqcRM (tools/requirements_nightly.txt) the test is skipped (status 77).
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import support

phreeqcrm = support.phreeqcrm()

TIMES = [1.0, 100.0, 10000.0]
# Of what has dissolved, or of 1e-9 mol/kgw: both integrate to 1e-4. The water that gypsum brings is PHREEQC's alone, 5e-4 of
# it at saturation.
ASKED, ASKED_GYPSUM = 2e-4, 8e-4
UNSUITED = ("Pyrite", "Hematite", "Goethite")  # PHREEQC lets electrons go from couple to couple
WATERS = [("3", ""), ("9", "C(4) 1e-3")]  # pH, what else is in sodium chloride


def rates_of(file):
    """{mineral: line} of RATE_PARAMETERS_PK."""
    lines = [line.split("#")[0].split() for line in file.read_text().splitlines()]
    return {words[0]: words for words in lines if len(words) > 1}


def karst(program, databases, mineral, water, folder):
    pH, more = water
    totals = ["Na 0.1", "Cl 0.1 charge", *([more] if more else [])]
    deck = folder / "deck.toml"
    deck.write_text(f'''[chemistry]
database = "{databases}/phreeqc.dat"
rates = "{databases}/palandri-kharaka.dat"
times = {TIMES}
[[chemistry.solution]]
pH = {pH}
totals = {json.dumps(totals)}
[[chemistry.mineral]]
phase = "{mineral}"
area = 1.0
amount = 10.0
rates = ["database"]
''')
    done = subprocess.run([program, "speciate", deck, "--json", folder / "out.json", "--overwrite"], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    rows = json.loads((folder / "out.json").read_text())["batch"]
    return [row["value"] for row in rows if row["kind"] == "dissolved"]


def reaction(mineral, water, number):
    pH, more = water
    return f'''RATES
 R
 -start
 10 SAVE RATE_PK("{mineral}") * (1 - SR("{mineral}")) * TIME
 -end
USER_PRINT
10 PRINT "@ {number}", STEP_NO, STR_E$(10 - KIN("R"), 24, 14)
SOLUTION 1
 pH {pH}
 pe {10 - float(pH)}
 units mol/kgw
 Na 0.1
 Cl 0.1 charge
 {more}
KINETICS 1
 R
 -formula {mineral} 1
 -m0 10
 -tol 1e-12
 -steps {' '.join(map(str, TIMES))}
 -cvode
INCREMENTAL_REACTIONS false
END
'''


def phreeqc(databases, rates, cases, folder):
    """{(number of the case, step from 1): what has dissolved}"""
    engine = phreeqcrm.PhreeqcRM(1, 1)
    engine.SetErrorHandlerMode(0)
    engine.SetFilePrefix(str(folder / "run"))
    engine.OpenFiles()
    if engine.LoadDatabase(str(databases / "phreeqc.dat")) != 0:
        sys.exit("PHREEQC does not read phreeqc.dat")
    engine.SetPrintChemistryOn(False, True, False)
    engine.RunString(False, True, False, rates + "\nKNOBS\n  -convergence_tolerance 1e-12\nEND\n")
    for number, case in enumerate(cases):
        engine.RunString(False, True, False, reaction(*case, number))
    engine.CloseFiles()
    found = {}
    for line in (folder / "run.chem.txt").read_text(errors="replace").splitlines():
        if line.startswith("@ "):
            number, step, value = line[2:].split()
            found[int(number), int(step)] = float(value)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--databases", type=Path, required=True)
    arguments = parser.parse_args()
    databases = arguments.databases.resolve()
    rates = databases / "palandri-kharaka.dat"
    cases = [(mineral, water) for mineral in rates_of(rates) for water in WATERS if mineral not in UNSUITED]
    compared, good = [], True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = phreeqc(databases, rates.read_text(), cases, folder)
        for number, (mineral, water) in enumerate(cases):
            ours = karst(arguments.program, databases, mineral, water, folder)
            if isinstance(ours, str) or (number, 1) not in theirs:
                print(f"{mineral} at pH {water[0]}: not solved, {ours if isinstance(ours, str) else 'by PHREEQC'}")
                good = False
                continue
            for step, value in enumerate(ours, start=1):
                reference = theirs[number, step]
                off = abs(value - reference) / max(abs(reference), 1e-9)
                asked = ASKED_GYPSUM if mineral == "Gypsum" else ASKED
                compared.append((off / asked, f"{mineral} at pH {water[0]}, {TIMES[step - 1]:g} s: {value:.6e}, PHREEQC {reference:.6e}, off by {off:.1e}, asked {asked:.0e}"))
    for share, text in sorted(compared, reverse=True)[:4]:
        print(text)
    print(f"{len(compared)} amounts of {len(cases)} reactions compared")
    return 0 if good and compared and max(compared)[0] <= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())

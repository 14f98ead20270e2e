#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`karst speciate`: the decks of inputs/speciation against PHREEQC, tables, ranks, and invalid decks.

speciate.py --program KARST --mpiexec MPIEXEC --inputs INPUTS
"""
import csv
import json
import sys
import tempfile
from pathlib import Path

from support import Karst, parser

SOLUTION = '[[chemistry.solution]]\nname = "brine"\n'
MINERAL = '[[chemistry.mineral]]\nphase = "Calcite"\narea = 0.1\namount = 1\nrates = ["1e-6"]\n'
WRONG = [  # deck, what the message says
    ("", ["chemistry.solution", "missing"]),
    ('database = "none.dat"\n' + SOLUTION, ["none.dat"]),
    (SOLUTION + 'totals = ["Ca x", "Na -1"]\n' + SOLUTION, ["'x' is not an amount", "cannot be negative", "has this name already"]),
    (SOLUTION + 'totals = ["Qq 1"]\n', ["solution brine", "Qq"]),
    (SOLUTION + 'totals = ["Ca 1 lb/L"]\n', ["lb/L", "kgw"]),
    (SOLUTION + 'totals = ["C(4) 1e-3", "Ca 1e-3 Calcit 0"]\n', ["did you mean Calcite"]),
    (SOLUTION + 'pH = 1\ntotals = ["Cl 0.01", "Na 0.1 charge"]\n', ["no composition", "SOLUTION 1"]),
    (SOLUTION + MINERAL, ["chemistry.times", "missing"]),
    ("times = [1, 1]\n" + SOLUTION + MINERAL, ["must increase"]),
    ("times = [1]\n" + SOLUTION + MINERAL.replace('"1e-6"', ""), ["rates", "does not react"]),
    ("times = [1]\n" + SOLUTION + MINERAL.replace("Calcite", "Calcit"), ["did you mean Calcite"]),
    (SOLUTION + 'totals = ["Fe 1e-3", "Fe(3) 1e-3"]\n', ["Fe and Fe(3)", "without redox reactions", "Fe(2), Fe(3)"]),
    ("times = [1]\n" + SOLUTION + 'totals = ["Fe(2) 1e-3", "S(6) 1e-3"]\n' + MINERAL.replace("Calcite", "Pyrite"),
     ["Pyrite", "transfers electrons"]),
    ("times = [1]\n" + SOLUTION + MINERAL.replace("1e-6", "1e-6 Na+ 1"), ["mineral Calcite", "Na+ is neither a species"]),
    ("times = [1]\n" + SOLUTION + MINERAL.replace("1e-6", "database"), ["mineral[0].rates", "Calcite has no rate parameters", "palandri-kharaka.dat", "Basic"]),
    ('times = [1]\nrates = "none.dat"\n' + SOLUTION + MINERAL.replace("Calcite", "Calcit"), ["chemistry.rates", "none.dat", "mineral[0].phase"]),
    ('times = [1]\nrates = "phreeqc.dat"\n' + SOLUTION + MINERAL, ["chemistry.rates", "neither RATE_PARAMETERS_PK"]),
    ("times = [1]\n" + SOLUTION + MINERAL.replace("1e-6", "databse"), ["mineral Calcite", "'databse' is not a number", '"database"']),
    (SOLUTION.replace("brine", "a, b"), ["solution[0].name", "commas"]),
    (SOLUTION + '[[chemistry.exchange]]\nsite = "Z"\namount = 1\n', ["solution brine", "site Z is not in database", "X"]),
    (SOLUTION + '[[chemistry.surface]]\nname = "Hfo"\n', ["surface[0].sites", "missing", "surface[0].area", "surface[0].mass"]),
    (SOLUTION + '[[chemistry.equilibrium]]\nphase = "Calcit"\n', ["did you mean Calcite"]),
    (SOLUTION + "[chemistry.titration]\nend = 1\n", ["titration.reactants", "what is added"]),
    (SOLUTION + '[chemistry.titration]\nreactants = ["QqCl"]\nend = 1\n', ["reactant QqCl", "Qq is neither"]),
    (SOLUTION + '[chemistry.titration]\nreactants = ["HCl"]\n', ["titration.end", "missing"]),
    (SOLUTION + '[chemistry.titration]\nreactants = ["HCl"]\namounts = [2, 1]\nsteps = 3\n', ["must increase", "given together with amounts"]),
]
failures = []


def check(name, good, text):
    print(f"{name}: {'as wanted' if good else 'WRONG'}")
    if not good:
        failures.append(name)
        print(text)


def wrong_decks(karst, folder):
    for number, (text, words) in enumerate(WRONG):
        deck = folder / "deck.toml"
        deck.write_text("[chemistry]\n" + text)
        done = karst.run(["speciate", deck], cwd=folder)
        good = done.status == 1 and done.err.startswith("error:") and all(word in done.err for word in words)
        check(f"wrong deck {number}", good, f"{words}\n{done}")


def tables(karst, inputs, folder):
    """Calcium and pH of calcite in acid, from PHREEQC (PhreeqcRM 0.0.20, phreeqc.dat)."""
    file = folder / "acid.csv"
    done = karst.run(["speciate", inputs / "speciation" / "batch.toml", "-o", file], cwd=folder)
    again = karst.run(["speciate", inputs / "speciation" / "batch.toml", "-o", file], cwd=folder)
    check("an existing table stays", again.status == 1 and "--overwrite" in again.err, again)
    rows = list(csv.DictReader((folder / "acid_batch.csv").open()))
    calcium = [float(r["value"]) for r in rows if r["kind"] == "total" and r["name"] == "Ca"]
    acidity = [float(r["value"]) for r in rows if r["name"] == "pH"]
    wanted = [8.893e-6, 7.952e-5, 7.447e-4, 4.209e-3, 5.625e-3, 6.148e-3, 7.874e-3]
    wanted_ph = [2.001, 2.006, 2.064, 2.632, 4.949, 5.713, 6.464]
    good = len(calcium) == 7 and all(abs(a / b - 1) < 2e-3 for a, b in zip(calcium, wanted))
    check("calcium over time", good and all(abs(a - b) < 3e-3 for a, b in zip(acidity, wanted_ph)), f"{calcium} {acidity}\n{done}")
    species = list(csv.DictReader(file.open()))
    total = sum(float(r["value"]) for r in species if r["kind"] == "species" and "Cl" in r["name"])
    chloride = [float(r["value"]) for r in species if r["kind"] == "total" and r["name"] == "Cl"]
    check("species add up to their total", abs(total - chloride[0]) < 1e-9 * total, f"{total} {chloride}")


def rates_of_a_compilation(karst, inputs, folder):
    """Calcite, dolomite and fluorite with the rates of palandri-kharaka.dat, from PHREEQC (PhreeqcRM 0.0.20, RATE_PK)."""
    file = folder / "rates.csv"
    done = karst.run(["speciate", inputs / "speciation" / "rates.toml", "-o", file], cwd=folder)
    rows = list(csv.DictReader((folder / "rates_batch.csv").open()))
    wanted = {"Calcite": [3.47349999e-5, 3.17899593e-4, 2.80671236e-3, 5.54333302e-3, 2.15086484e-3, 2.14416433e-3],
              "Dolomite": [5.78033519e-6, 5.15355507e-5, 4.36501147e-4, 2.58174997e-3, 4.49353778e-3, 4.49736377e-3]}
    for name, amounts in wanted.items():
        found = [float(r["value"]) for r in rows if r["kind"] == "dissolved" and r["name"] == name]
        good = len(found) == 6 and all(abs(a / b - 1) < 5e-4 for a, b in zip(found, amounts))
        check(f"rates of a compilation: {name}", good, f"{found}\n{done}")


def titration(karst, inputs, folder):
    """Tables, JSON and page of a titration say the same, and none takes the place of another file."""
    csv_file, json_file, page = folder / "t.csv", folder / "t.json", folder / "t.html"
    words = ["speciate", inputs / "speciation" / "titration.toml", "-o", csv_file, "--json", json_file, "--page", page]
    done, again = karst.run(words, cwd=folder), karst.run(words, cwd=folder)
    check("a titration", done.status == 0 and again.status == 1 and "exists" in again.err, f"{done}\n{again}")
    rows = list(csv.DictReader((folder / "t_titration.csv").open()))
    acidity = [(float(r["added_mol_kgw"]), float(r["value"])) for r in rows if r["name"] == "pH"]
    data = json.loads(json_file.read_text())
    same = [(r["added_mol_kgw"], r["value"]) for r in data["titration"] if r["name"] == "pH"]
    check("JSON has the lines of the table", acidity == same and len(acidity) == 101, f"{acidity[:3]} {same[:3]}")
    falls = all(a > b for (_, a), (_, b) in zip(acidity, acidity[1:]))
    dissolved = max(float(r["value"]) for r in rows if r["kind"] == "dissolved")
    check("acid lowers the pH and uses calcite up", falls and dissolved == 4e-3, f"{acidity}")
    html = page.read_text()
    check("the page has charts", all(word in html for word in ["ground water: pH", "ground water: dissolved", "<svg"]), html[:500])


def deck_of_a_run(karst, inputs, folder):
    """Waters of a deck for `karst run`, by their names: that in equilibrium with calcite is; alkalinity is that of the carbonate ions."""
    file = folder / "waters.csv"
    done = karst.run(["speciate", inputs / "calcite-grains" / "calcite-grains.toml", "-o", file], cwd=folder)
    rows = [r for r in csv.DictReader(file.open()) if r["solution"] == "formation water"] if done.status == 0 else []
    value = {r["name"]: float(r["value"]) for r in rows}
    good = done.status == 0 and abs(value["Calcite"]) < 1e-9 and abs(value["inorganic_carbon"] / value["C(4)"] - 1) < 1e-12
    carbonate = sum(n * value[name] for name, n in {"HCO3-": 1, "CaHCO3+": 1, "NaHCO3": 1, "CO3-2": 2, "CaCO3": 2, "OH-": 1}.items()) if good else 0
    check("the deck of a run", good and abs(value["alkalinity"] / carbonate - 1) < 1e-3 and "acid brine" in done.out, done)
    none = karst.run(["speciate", inputs / "tracer" / "tracer.toml"], cwd=folder)
    check("the deck of a run without solutions", none.status == 1 and "chemistry.solution: missing" in none.err, none)


def ranks(karst, inputs, folder):
    deck = inputs / "speciation" / "solutions.toml"
    one, two = (karst.run(["speciate", deck], cwd=folder, ranks=n) for n in (1, 2))
    check("two ranks print the same", one.status == 0 and one.out == two.out, f"{one}\n{two}")


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--inputs", required=True, type=lambda path: Path(path).resolve())
    arguments = arguments.parse_args()
    karst = Karst(arguments.program, arguments.mpiexec)
    with tempfile.TemporaryDirectory(prefix="karst_speciate_") as name:
        wrong_decks(karst, Path(name))
        tables(karst, arguments.inputs, Path(name))
        rates_of_a_compilation(karst, arguments.inputs, Path(name))
        titration(karst, arguments.inputs, Path(name))
        deck_of_a_run(karst, arguments.inputs, Path(name))
        ranks(karst, arguments.inputs, Path(name))
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

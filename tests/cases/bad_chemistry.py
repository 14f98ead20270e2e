# SPDX-License-Identifier: BSD-3-Clause
"""Cases of bad_input.py: invalid decks of chemistry. Each message contains the name of the entry and the line where it begins."""
from bad_cases import case, deck
from support import sphere_deck

SOLUTION = 'pH = 7\ntotals = ["Ca 1e-3", "C(4) 1e-3", "Cl 1e-3 charge"]\n'
MINERAL = 'phase = "Calcite"\nwall = "all"\nrates = ["1e-6"]\n'


def chemistry_deck(chemistry="", solution=SOLUTION, mineral=MINERAL):
    return (sphere_deck() + "periodic = [false, true, true]\n"
            '[flow]\nmodel = "stokes"\ndrive = "velocity"\nvelocity = 1e-4\naxes = ["x"]\nestimate_error = false\n'
            "[chemistry]\n" + chemistry + "[[chemistry.solution]]\n" + solution + "[[chemistry.mineral]]\n" + mineral +
            "\n[time]\nend_pore_volumes = 1\n")


def wrong_deck(name, words, database=None, command="check", **parts):
    """A case whose deck differs in these parts from one that is right; database: text of the file own.dat."""
    def chemistry_case(folder):
        if database is not None:
            (folder / "own.dat").write_text(database)
        return [command, deck(folder, chemistry_deck(**parts))], words

    chemistry_case.__name__ = f"chemistry_{name}"
    case(chemistry_case)


# The database, and the file of rates.
wrong_deck("without_its_database", ["chemistry.database", "nothing.dat"], chemistry='database = "nothing.dat"\n')
wrong_deck("database_is_a_folder", ["chemistry.database", "cannot be read", "directory"], chemistry='database = "."\n')
wrong_deck("database_is_empty", ["chemistry.database", "own.dat", "no SOLUTION_MASTER_SPECIES"], "", chemistry='database = "own.dat"\n')
wrong_deck("database_with_a_wrong_line", ["chemistry.database", "own.dat, line 2", "'x' is not a number"],
           "SOLUTION_MASTER_SPECIES\nH H+ -1 H x\n", chemistry='database = "own.dat"\n')
wrong_deck("database_of_pitzer", ["chemistry.database", "own.dat, line 1", "PITZER"], "PITZER\n", chemistry='database = "own.dat"\n')
wrong_deck("without_its_additions", ["chemistry.additions", "nothing.dat"], chemistry='additions = ["nothing.dat"]\n')
wrong_deck("additions_of_a_wrong_line", ["chemistry.additions", "own.dat, line 2", "'x' is not a number"],
           "SOLUTION_MASTER_SPECIES\nH H+ -1 H x\n", chemistry='additions = ["own.dat"]\n')
wrong_deck("rates_of_a_wrong_line", ["chemistry.rates", "own.dat, line 2", "3 rate parameters"],
           "RATE_PARAMETERS_PK\nCalcite -0.3 14.4 1\n", chemistry='rates = "own.dat"\n')
wrong_deck("rates_that_nobody_has", ["chemistry.mineral[0].rates", "Calcite has no rate parameters", "palandri-kharaka.dat"],
           mineral=MINERAL.replace("1e-6", "database"))
wrong_deck("engine_with_what_it_has_not", ["chemistry.engine", '"phreeqcrm" together with exchangers or surfaces'],
           chemistry='engine = "phreeqcrm"\n', mineral=MINERAL + '[[chemistry.exchange]]\nsite = "X"\namount = 1\n')
wrong_deck("engine_with_walls", ["chemistry.engine", '"phreeqcrm" together with minerals on walls', "together with chemistry.skip"], command="run",
           chemistry='engine = "phreeqcrm"\nskip = 1e-3\n', mineral='phase = "Calcite"\nwall = "all"\nrates = ["1"]\n')
# Species and phases.
wrong_deck("of_unknown_names", ["chemistry.species", "CO9", "chemistry.inlet", '"brine" is no solution'],
           command="run", chemistry='species = ["CO9"]\ninlet = "brine"\n')
wrong_deck("unknown_element", ["chemistry.solution[0]", "element Cax", "did you mean Ca?"],
           solution=SOLUTION.replace("Ca 1e-3", "Cax 1e-3"))
wrong_deck("unknown_phases", ["chemistry.mineral[0].phase", "did you mean Calcite?", "chemistry.equilibrium[0].phase", "did you mean Dolomite?"],
           mineral=MINERAL.replace("Calcite", "Calcit") + '[[chemistry.equilibrium]]\nphase = "Dolomit"\n')
wrong_deck("rate_with_an_unknown_species", ["chemistry.mineral[0].rates", "Hg+2 is neither a species"], mineral=MINERAL.replace("1e-6", "1e-6 Hg+2 1"))
wrong_deck("mineral_that_is_a_gas", ["chemistry.mineral[0].rates", "CO2(g) is a gas"], mineral=MINERAL.replace("Calcite", "CO2(g)"))
# Solutions.
wrong_deck("no_balance", ["chemistry.solution[0]", "no composition satisfies all conditions", "amount that balances the charge"],
           solution='pH = 1\ntotals = ["Cl 0.01", "Na 0.1 charge"]\n')
wrong_deck("negative_total", ["chemistry.solution[0].totals", '"Ca -1e-3": an amount cannot be negative'],
           solution=SOLUTION.replace("Ca 1e-3", "Ca -1e-3"))
wrong_deck("of_wrong_amounts", ["cannot be negative", "chemistry.mineral[0].rates", "does not react"], command="run",
           solution='totals = ["Ca -1e-3", "Na 1 furlong"]\n', mineral='phase = "Calcite"\nwall = "all"\n')
wrong_deck("unknown_units", ["chemistry.solution[0]", 'units "lb/L" are unknown', "kgw"], solution='units = "lb/L"\n' + SOLUTION)
wrong_deck("units_of_alkalinity_alone", ["chemistry.solution[0]", 'Ca: units "meq/L" are for alkalinity only'],
           solution=SOLUTION.replace("Ca 1e-3", "Ca 1 meq/L"))
# Couples, which exchange no electrons.
wrong_deck("couple_that_is_not_coupled", ["chemistry.solution[0]", "Fe and Fe(3)", "without redox reactions", "Fe(2), Fe(3)"],
           solution='pH = 7\ntotals = ["Fe 1e-3", "Fe(3) 1e-6", "Cl 2e-3 charge"]\n')
wrong_deck("mineral_that_takes_electrons", ["chemistry.mineral[0].phase", "Pyrite", "transfers electrons"],
           solution='pH = 7\ntotals = ["Fe(2) 1e-3", "S(6) 1e-3"]\n', mineral=MINERAL.replace("Calcite", "Pyrite"))
# Minerals.
wrong_deck("mineral_without_a_rate", ["chemistry.mineral[0].rates", "missing", "does not react"], mineral='phase = "Calcite"\nwall = "all"\n')
wrong_deck("minerals_of_one_name", ["chemistry.mineral[1].name", '"Calcite": another mineral', "columns"],
           mineral=MINERAL + "[[chemistry.mineral]]\n" + MINERAL)
wrong_deck("mineral_nowhere", ["chemistry.mineral[0].wall", "missing", "nowhere"], mineral='phase = "Calcite"\nrates = ["1e-6"]\n')
wrong_deck("mineral_on_no_wall", ["chemistry.mineral[0].wall", 'the wall has no "dolomite"', "solid"],
           command="run", mineral=MINERAL.replace('"all"', '"dolomite"'))


@case
def chemistry_all_mistakes_at_once(folder):
    text = chemistry_deck(chemistry='rates = "no.dat"\n', solution=SOLUTION.replace("C(4)", "C(9)"), mineral=MINERAL.replace("Calcite", "Calcit"))
    line = text.splitlines().index("[[chemistry.solution]]") + 1
    return ["check", deck(folder, text)], [f"deck.toml:{line}: chemistry.solution[0]", f"deck.toml:{line + 4}: chemistry.mineral[0].phase", f"deck.toml:{line - 1}: chemistry.rates"]

wrong_deck("amount_in_molar", ["chemistry.solution[0].totals", "'mM' is no unit", "mmol/l"],
           solution='pH = 7\ntotals = ["Ca 1 mM", "Cl 1e-3 charge"]\n')
wrong_deck("activation_energy_in_joules", ["chemistry.mineral[0].rates", "Ea 23500 is given in kJ/mol", "J/mol / 1000"],
           mineral=MINERAL.replace("1e-6", "1e-6 Ea 23500"))


@case
def chemistry_batch_of_no_amount(folder):
    """A batch reactor without an amount of the mineral would dissolve nothing."""
    text = ("[chemistry]\ntimes = [10, 1000]\n[[chemistry.solution]]\n" + SOLUTION +
            '[[chemistry.mineral]]\nphase = "Calcite"\narea = 0.1\nrates = ["1e-6"]\n')
    return ["speciate", deck(folder, text)], ["deck.toml", "chemistry.mineral[0].amount", "missing"]

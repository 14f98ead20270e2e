# SPDX-License-Identifier: BSD-3-Clause
"""All members of summary.json in the sources that write it are known to the columns of studies (src/app/study/study_columns.cpp), which
reject words that are spelt like one of them.

usage: summary_words.py
"""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WRITTEN_BY = """summary diffusion_job dispersion_job dynamic_job end_flow_job inertia_results flow_results flow_in_time_page flow_record forces_in_time
communication feedback_balance run_services step_times transport_results reactive_results variation walls_results wall_events""".split()
MEMBER = re.compile(r'\{"([a-z]\w*)",|\["([a-z]\w*)"\]')  # titles begin with a capital
QUANTITY = re.compile(r'Quantity\{"(\w+)"(?:, "(\w*)")?(, [^}]*\b(?:json|all|lines|known)\b)?')


def known():
    return set(re.search(r'words = R"\((.*?)\)"', (ROOT / "src/app/study/study_columns.cpp").read_text(), re.S).group(1).split())


def members(text):
    """Those written by hand, and those of tables of quantities that summary.json shows."""
    quantities = {f"{name}_{unit}" if unit else name for name, unit, shown in QUANTITY.findall(text) if shown}
    return quantities | {first or second for first, second in MEMBER.findall(QUANTITY.sub("", text))}


def missing(text):
    return sorted(members(text) - known())


class SummaryWords(unittest.TestCase):
    def test_all_members_are_known(self):
        for name in WRITTEN_BY:
            source = next(path for ending in ("cpp", "hpp") for path in (ROOT / "src/app").glob(f"*/{name}.{ending}"))
            self.assertEqual(missing(source.read_text()), [], f"{source.name}: add them to the words of src/app/study/study_columns.cpp")
        tables = list((ROOT / "src/app").glob("*/*_quantities.hpp"))
        self.assertGreaterEqual(len(tables), 3)
        for table in tables:
            self.assertEqual(missing(table.read_text()), [], f"{table.name}: add them to the words of src/app/study/study_columns.cpp")

    def test_a_new_member_is_seen(self):
        self.assertEqual(missing('json["permeability_m2"] = 1; Json one{{"brand_new", 2}};'), ["brand_new"])
        self.assertEqual(missing('f(Quantity{"brand", "m2", csv | json}, x); f(Quantity{"brand_new", "m", csv}, x);'), ["brand_m2"])


if __name__ == "__main__":
    unittest.main()

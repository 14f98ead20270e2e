# SPDX-License-Identifier: BSD-3-Clause
"""Studies: one deck for many values, images or sub-volumes (`karst study`)."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karst.deck import Deck, as_file, overrides
from karst.error import KarstError, unknown
from karst.program import Process, find_program
from karst.progress import in_notebook
from karst.results import Results
from karst.run import require_tables, wait_shown
from karst.series import entry
from karst.table import Table

if TYPE_CHECKING:
    import pandas

OPTIONS = ("out", "threads", "ranks", "parallel", "overwrite", "echo", "progress", "program")


class Study:
    """The folder of a study.

        study = Study("out/convergence")
        study.title, study.varied            names of the varied keys
        study.names                          of the cases: ["case_001", ...]
        study.table                          Table of study.csv: the varied values and the columns of results
        study.to_pandas()                    the same as a pandas.DataFrame with a row per case
        study[0], study["case_001"]          Results of one case
        for name, results in study.items()   those of the completed cases
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        file = self.folder / "study.json"
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
            self.title, self.varied, self.columns = str(about["title"]), list(about["varied"]), list(about["columns"])
            self.names = [str(case["name"]) for case in about["cases"]]
            self.status = {str(case["name"]): str(case["status"]) for case in about["cases"]}
        except OSError as error:
            raise KarstError(f"{file}: cannot be read ({error.strerror}); give the folder of `karst study`") from None
        except (ValueError, KeyError, TypeError):
            raise KarstError(f"{file}: was not written by `karst study`") from None

    @property
    def table(self) -> Table:
        return Table(self.folder / "study.csv")

    def to_pandas(self) -> "pandas.DataFrame":
        """A row per case, named by it, with its status, the varied values and the results; attrs["units"]: their units."""
        return self.table.to_pandas("case")

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, case: int | str) -> Results:
        if isinstance(case, str) and case not in self.names:
            raise unknown("case", case, self.names, str(self.folder))
        name = case if isinstance(case, str) else entry([Path(name) for name in self.names], case, "cases").name
        return Results(self.folder / name)

    def items(self) -> Iterator[tuple[str, Results]]:
        return ((name, self[name]) for name in self.names if (self.folder / name / "summary.json").exists())

    def __repr__(self) -> str:
        return f"{self.folder}: {self.title} ({len(self)} cases of {', '.join(self.varied)})"


def run_study(study: Deck | str | Path, out: str | Path, *, threads: int | None = None, ranks: int = 1, parallel: int = 1, overwrite: bool = False,
              echo: bool = False, progress: bool | None = None, program: str | Path | None = None, **changes: Any) -> Study:
    """`karst study`: runs all cases, except those that are completed, and returns the Study. Raises RunError if a case fails.

    study      dictionary with the keys of a study, whose `deck` may be a dictionary, too; or the path of a study
    out        folder of the results
    parallel   cases that run at the same time, each with `threads` and `ranks`
    changes    keys of the deck to set in all cases: grid={"box": 32}
    The other arguments are those of run().
    """
    require_tables(changes, OPTIONS)
    with ExitStack() as files:
        if isinstance(study, Mapping) and isinstance(study.get("deck"), Mapping):
            study = {**study, "deck": files.enter_context(as_file(study["deck"]))}
        words = [str(program or find_program()), "study", files.enter_context(as_file(study)), "--out", str(out), *overrides(changes)]
        words += [] if threads is None else ["--threads", str(threads)]
        words += ["--ranks", str(ranks)] if ranks > 1 else []
        words += ["--parallel", str(parallel)] if parallel > 1 else []
        words += ["--overwrite"] if overwrite else []
        process = Process(words, 1, echo)
        shows = (in_notebook() if progress is None else progress) and not echo
        wait_shown(process, lambda: next((line for line in reversed(process.output.splitlines()) if line.strip()), "starting"), str(out), shows)
    return Study(out)

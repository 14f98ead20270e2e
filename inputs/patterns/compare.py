#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the nine runs of nine.toml: pictures, permeability over porosity, and a table, in patterns.html of the study's folder.
Of one run, such as that of wormhole.toml: its picture, wormhole.png, and its line of the table.

    PYTHONPATH=python python3 inputs/patterns/compare.py out/nine
    PYTHONPATH=python python3 inputs/patterns/compare.py out/wormhole
"""
import argparse
import json
import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from karst import Results

TIMES_AS_PERMEABLE = 10.0
SOLID = np.array([0xB7, 0xAD, 0xA0]) / 255


class Case:
    """A run, and where its permeability has grown to ten times the first one, between two steps (by its logarithm)."""

    def __init__(self, folder: Path):
        self.results = Results(folder)
        lines = self.results.table("evolution.csv")
        deck = self.results.deck
        transport = deck["transport"]
        peclet = deck["flow"]["velocity"] * transport["peclet_length"] / transport["diffusivity"]
        self.name = f"Pe {float(f'{peclet:.3g}'):g}, Da {transport['wall'][0]['damkohler']:g}"
        size, velocity, acid = deck["grid"]["size"], deck["flow"]["velocity"], float(deck["transport"]["component"][0]["inlet"])
        self.porosity, self.permeability = lines["porosity"], lines["permeability_x_m2"]
        volumes = lines["time_s"] * velocity / (size[0] * self.porosity[0])
        grown = np.log(self.permeability / self.permeability[0])
        at = [np.interp(math.log(TIMES_AS_PERMEABLE), grown, y) for y in (self.porosity, volumes)]
        self.porosity_then, self.pore_volumes = at
        first = int(np.argmax(self.porosity > self.porosity[0] + 0.03))
        logarithm = np.log(self.porosity / self.porosity[0])
        self.exponent_first = grown[first] / logarithm[first]
        self.exponent = math.log(TIMES_AS_PERMEABLE) / math.log(self.porosity_then / self.porosity[0])
        self.used = lines["calcite_dissolved_mol"][-1] / (acid * velocity * size[1] * size[2] * lines["time_s"][-1])
        self.steps, self.seconds = self.results.summary["walls"]["steps"], self.results.summary["seconds"]["total"]


def read_cases(study: Path) -> list[Case]:
    return [Case(study / row["name"]) for row in json.loads((study / "study.json").read_text())["cases"]]


def draw_picture(case: Case, panel):
    with case.results.plotfile() as plot:
        fraction, acid = (plot.plane(name, 2, 0.5) for name in ("fraction", "concentration_acid"))
        extent = [0, 1e3 * plot.size[0], 0, 1e3 * plot.size[1]]
    image = panel.imshow(np.where(fraction > 0, acid, np.nan), origin="lower", extent=extent, vmin=0, vmax=10, cmap="viridis")
    solid = np.concatenate([np.broadcast_to(SOLID, (*fraction.shape, 3)), 1 - fraction[..., None]], axis=2)
    panel.imshow(solid, origin="lower", extent=extent)
    panel.set_title(f"{case.name}: porosity {case.porosity_then:.3f}", fontsize=11)
    panel.set(xticks=[], yticks=[])
    return image


def draw_pictures(cases: list[Case], file: Path) -> None:
    figure = Figure(figsize=(13.5, 7.6), layout="constrained")
    axes = figure.subplots(3, 3)
    for case, panel in zip(cases, axes.flat):
        image = draw_picture(case, panel)
    figure.colorbar(image, ax=axes, shrink=0.6, label="acid [mol/m³]")
    figure.savefig(file, dpi=80)


def draw_one(case: Case, file: Path) -> None:
    figure = Figure(figsize=(9, 5), layout="constrained")
    panel = figure.add_subplot()
    figure.colorbar(draw_picture(case, panel), shrink=0.8, label="acid [mol/m³]")
    figure.savefig(file, dpi=90)


def draw_curves(cases: list[Case], file: Path) -> None:
    figure = Figure(figsize=(7.2, 5), layout="constrained")
    panel = figure.add_subplot()
    for number, case in enumerate(cases):
        panel.loglog(case.porosity, case.permeability, f"C{number // 3}", linestyle=["-", "--", ":"][number % 3], label=case.name)
    panel.set(xlabel="porosity", ylabel="permeability [m²]")
    panel.set_xticks([0.6, 0.7, 0.8, 0.9], labels=["0.6", "0.7", "0.8", "0.9"])
    panel.set_yticks([1e-10, 2e-10, 5e-10], labels=["1e-10", "2e-10", "5e-10"])
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(file, dpi=100)


def table(cases: list[Case]) -> list[list[str]]:
    rows = [["", "pore volumes of acid", "porosity then", "n at the beginning", "n until then", "acid used", "steps", "time of the run [s]"]]
    for c in cases:
        rows.append([c.name, f"{c.pore_volumes:.0f}", f"{c.porosity_then:.3f}", f"{c.exponent_first:.1f}", f"{c.exponent:.1f}",
                     f"{100 * c.used:.3g} %", str(c.steps), f"{c.seconds:.0f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares the nine runs of nine.toml, or draws one run.")
    parser.add_argument("study", type=Path, nargs="?", default=Path("out/nine"), help="folder of the study, or of a run (default: out/nine)")
    study = parser.parse_args().study
    if not (study / "study.json").exists():
        case = Case(study)
        draw_one(case, study / "wormhole.png")
        for row in table([case]):
            print(" | ".join(row))
        return
    cases = read_cases(study)
    draw_pictures(cases, study / "patterns.png")
    draw_curves(cases, study / "curves.png")
    rows = table(cases)
    html = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    (study / "patterns.html").write_text(
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Patterns of dissolution</title>'
        "<style>body{font-family:sans-serif;max-width:75rem;margin:2rem auto}img{max-width:100%}td{padding:.2rem .8rem}</style>\n"
        "<h1>Patterns of dissolution</h1><p>When the permeability has grown to ten times the first one; K ~ porosityⁿ.</p>\n"
        f'<img src="patterns.png" alt="acid and rock of the nine runs"><img src="curves.png" alt="permeability over porosity">\n<table>{html}</table></html>\n')
    for row in rows:
        print(" | ".join(row))
    print(f"\nPage: {study / 'patterns.html'}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of docs/verification.md of cylinders in a channel: drag and lift over the time against the references.

    karst-verify-cylinder_in_time pulse 10 0.0025 3 pulse_40.csv
    cylinder_curves.py pulse docs/images/verification_cylinder_pulse.png "10 cells=pulse_10.csv" "40 cells=pulse_40.csv"
    cylinder_curves.py box docs/images/verification_cylinder_box.png "20 cells=box_20.csv" "40 cells=box_40.csv"
    cylinder_curves.py street docs/images/verification_cylinder_street.png "20 cells=street_20.csv"

    karst-verify-cylinder > plane.json
    karst-verify-cylinder 3d 10 > box.json;  karst-verify-cylinder 3d 10 2 >> box.json
    cylinder_curves.py steady docs/images/verification_cylinder_steady.png plane.json box.json

References: N7 (2D-3) John, Int. J. Numer. Methods Fluids 44 (2004) 777; N8 (3D-3Z) Bayraktar, Mierka & Turek, Int. J.
Comput. Sci. Eng. 7 (2012) 253; N3 (2D-2), N2 (2D-1) and N4 (3D-1Z) Schäfer & Turek, Notes Numer. Fluid Mech. 52 (1996) 547,
with the digits of N2 and N4 as karst-verify-cylinder asks them."""
import csv
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = ("#9aa5b1", "#e4572e", "#29335c", "#2a9d8f")
STYLES = ((0, (2, 2)), (0, (5, 2)), "-", "-.")
# time [s] and largest value of drag and lift
PULSE = {"drag": (3.93625, 2.950921575), "lift": (5.693125, 0.47795)}
# largest drag, least lift
BOX = {"drag": 3.2978, "lift": -0.010999}
# largest values of drag and lift lie between
STREET = {"drag": (3.22, 3.24), "lift": (0.98, 1.02)}
# 2D-1; in three dimensions the pressure difference is known to lie between 0.165 and 0.175 alone
STEADY = {"2D-1": {"drag": 5.57953523384, "lift": 0.010618948146, "pressure_difference": 0.11752016697},
          "3D-1Z": {"drag": 6.18533, "lift": 0.009401}}
NAMES = {"drag": "drag coefficient", "lift": "lift coefficient"}


def columns(name):
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}


def save(figure, name, legend_of):
    handles, labels = legend_of.get_legend_handles_labels()
    figure.tight_layout(rect=(0.0, 0.07, 1.0, 1.0))
    figure.legend(handles, labels, frameon=False, fontsize=9, loc="lower center", ncol=len(labels))
    figure.savefig(name, metadata={"Software": None})
    print(name)


def axes_of(title):
    figure, both = plt.subplots(1, 2, figsize=(9.6, 3.9), dpi=120)
    figure.suptitle(title, fontsize=11)
    for axes, quantity in zip(both, NAMES):
        axes.set_xlabel("time [s]")
        axes.set_ylabel(NAMES[quantity])
        axes.grid(True, alpha=0.3)
    return figure, both


def over_time(title, name, runs, reference):
    """`reference` draws that of a quantity into the axes."""
    figure, both = axes_of(title)
    for axes, quantity in zip(both, NAMES):
        for (label, run), colour, style in zip(runs, COLOURS, STYLES):
            axes.plot(run["time_s"], run[quantity], color=colour, linestyle=style, linewidth=1.2, label=label)
        reference(axes, quantity)
    save(figure, name, both[0])


def pulse(name, runs):
    over_time("Cylinder with a pulse (2D-3)", name, runs, lambda axes, quantity: axes.plot(
        *PULSE[quantity], "o", color="black", markerfacecolor="none", markersize=8, label="largest, John 2004"))


def box(name, runs):
    over_time("Cylinder between four walls with a pulse (3D-3Z)", name, runs, lambda axes, quantity: axes.axhline(
        BOX[quantity], color="black", linewidth=0.8, label="largest, least; Bayraktar 2012"))


def street(name, runs, shown=1.5):
    figure, both = axes_of("Vortex street (2D-2): the last periods")
    for axes, quantity in zip(both, NAMES):
        for (label, run), colour, style in zip(runs, COLOURS, STYLES):
            end = run["time_s"][-1]
            kept = [(t, v) for t, v in zip(run["time_s"], run[quantity]) if t >= end - shown]
            # phases are of no meaning: all begin where the lift goes up through 0
            lift = [v for t, v in zip(run["time_s"], run["lift"]) if t >= end - shown]
            start = next(i for i in range(1, len(lift)) if lift[i - 1] < 0.0 <= lift[i])
            axes.plot([t - kept[start][0] for t, _ in kept[start:]], [v for _, v in kept[start:]], color=colour,
                      linestyle=style, linewidth=1.2, label=label)
        axes.axhspan(*STREET[quantity], color="#2a9d8f", alpha=0.3, label="largest, Schäfer & Turek")
    save(figure, name, both[0])


def rows_of(file):
    """All figures in a file, objects and lists of them one after the other."""
    with open(file) as text:
        left, decoder, rows = text.read().strip(), json.JSONDecoder(), []
    while left:
        found, end = decoder.raw_decode(left)
        rows += found if isinstance(found, list) else [found]
        left = left[end:].strip()
    return rows


def steady(name, files):
    """Errors over the cells per diameter, one file per case."""
    figure, both = plt.subplots(1, 2, figsize=(9.6, 3.9), dpi=120, sharey=True)
    for axes, (case, references), file in zip(both, STEADY.items(), files):
        rows = rows_of(file)
        cells = [row["cells_per_diameter"] for row in rows]
        for (quantity, reference), colour, marker in zip(references.items(), COLOURS[1:], "os^"):
            errors = [abs(row[quantity] / reference - 1.0) for row in rows]
            axes.loglog(cells, errors, color=colour, marker=marker, label=quantity.replace("_", " "))
        axes.loglog(cells, [0.01 * (cells[0] / n) ** 2 for n in cells], "--", color="#777777", label="slope 2")
        axes.set_xticks(cells, [str(n) for n in cells])
        axes.minorticks_off()
        axes.set_title(case, fontsize=11)
        axes.set_xlabel("finest cells per diameter")
        axes.grid(True, alpha=0.3)
    both[0].set_ylabel("relative error")
    save(figure, name, both[0])


def main():
    kind, name, *given = sys.argv[1:]
    if kind == "steady":
        return steady(name, given)
    runs = [(label, columns(file)) for label, file in (item.split("=", 1) for item in given)]
    return {"pulse": pulse, "box": box, "street": street}[kind](name, runs)


if __name__ == "__main__":
    main()

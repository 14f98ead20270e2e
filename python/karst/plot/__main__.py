# SPDX-License-Identifier: BSD-3-Clause
"""python -m karst.plot slice | movie | wall | figure | view ..."""
import argparse
import sys
from importlib import import_module

from karst.error import guarded

PICTURES = {name: import_module(f"karst.plot.{name}") for name in ("slice", "movie", "wall", "figure", "view")}


def main(words: list[str], program: str = "python -m karst.plot") -> int:
    """Runs the arguments of a command line, without the name of the program."""
    parser = argparse.ArgumentParser(prog=program, description="Draws results of Karst.")
    pictures = parser.add_subparsers(dest="picture", required=True, metavar="|".join(PICTURES))
    for name, module in PICTURES.items():
        module.add_arguments(pictures.add_parser(name, description=module.__doc__, help=str(module.__doc__).splitlines()[0],
                                                 formatter_class=argparse.RawDescriptionHelpFormatter))
    options = parser.parse_args(words)
    PICTURES[options.picture].draw(options)
    return 0


def tool(picture: str) -> None:
    """A separate program for one kind of plot, as in tools/plot_slice.py."""
    guarded(lambda: main([picture, *sys.argv[1:]]))


if __name__ == "__main__":
    guarded(lambda: main(sys.argv[1:]))

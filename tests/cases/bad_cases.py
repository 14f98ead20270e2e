# SPDX-License-Identifier: BSD-3-Clause
"""Registry of the cases of bad_input.py, and decks that several of them use."""

CASES = {}
# What a run leaves that fails in its first solve, and where older results lie.
FAILED = ["out", "out/deck.toml", "out/log.txt", "out/summary.json"]
FAILED_BESIDE = ["out/karst-unfinished", *(f"out/karst-unfinished/{name}" for name in ("deck.toml", "log.txt", "summary.json"))]


def case(function):
    """Registers function(folder) -> (arguments, words of the message)."""
    CASES[function.__name__] = function
    return function


def deck(folder, text, name="deck.toml"):
    (folder / name).write_text(text)
    return name


def raw_deck(folder, image, extra="pore = 0\n"):
    (folder / "rock.raw").write_bytes(image)
    return deck(folder, '[geometry]\nimage = "rock.raw"\n[geometry.import]\nsize = [16, 16, 16]\ntype = "uint8"\n'
                        "voxel = 1e-6\n" + extra)

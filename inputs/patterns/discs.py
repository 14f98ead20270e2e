#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts down discs of unequal size at random, the largest first, with a gap between them; periodic in y.

    python3 discs.py > discs.txt
    python3 discs.py wormhole > discs_wormhole.txt
"""
import random
import sys

GAP, END = 0.02, 0.1                    # mm: between discs, and without discs at inlet and outlet
RADII = (0.07, 0.055, 0.04, 0.03)       # mm
FIELDS = {                              # seed, length and height [mm], discs of each radius
    "nine": (7, 2.56, 1.28, (20, 40, 80, 60)),
    "wormhole": (11, 4.48, 2.56, (70, 140, 280, 210)),
}

seed, length, height, counts = FIELDS[sys.argv[1] if len(sys.argv) > 1 else "nine"]
random.seed(seed)
discs = []
for radius in [radius for radius, count in zip(RADII, counts) for _ in range(count)]:
    while True:
        x = random.uniform(END + radius, length - END - radius)
        y = random.uniform(0, height)
        if all((x - a) ** 2 + min(abs(y - b), height - abs(y - b)) ** 2 > (radius + r + GAP) ** 2 for a, b, r in discs):
            break
    discs.append((x, y, radius))
print(f"x [mm], y [mm], z [mm], radius [mm]: {len(discs)} discs, written by discs.py")
for x, y, radius in sorted(discs):
    print(f"{x:.4f} {y:.4f} 0.005 {radius:.4f}")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes discs.txt: discs of unequal size put down at random, the largest first, with a gap between them; periodic in y."""
import random

LENGTH, HEIGHT, GAP = 2.56, 1.28, 0.02  # mm
END = 0.1                               # mm without discs at inlet and outlet
RADII = [0.07] * 20 + [0.055] * 40 + [0.04] * 80 + [0.03] * 60

random.seed(7)
discs = []
for radius in RADII:
    while True:
        x = random.uniform(END + radius, LENGTH - END - radius)
        y = random.uniform(0, HEIGHT)
        if all((x - a) ** 2 + min(abs(y - b), HEIGHT - abs(y - b)) ** 2 > (radius + r + GAP) ** 2 for a, b, r in discs):
            break
    discs.append((x, y, radius))
print("x [mm], y [mm], z [mm], radius [mm]: 200 discs, written by discs.py")
for x, y, radius in sorted(discs):
    print(f"{x:.4f} {y:.4f} 0.005 {radius:.4f}")

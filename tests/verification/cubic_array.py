#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conductivity of a simple cubic array of insulating spheres of period 1, by multipoles: the reference values of case L5.

Outside the spheres u = G z + Σ_R Σ_lm B_lm I_lm(r - R), with the irregular solid harmonics
I_lm = (l - m)! P_lm e^imφ / r^(l+1). About one centre the other spheres contribute Σ A_lm conj(R_lm), with the regular ones
R_lm = r^l P_lm e^imφ / (l + m)! and A_l'm' = Σ_lm B_lm (-1)^l' S_(l+l')(m+m'), S the lattice sums of I_lm. The sum over the
dipoles depends on the shape of the lattice: without a mean gradient of the dipoles it is -4π/3 B_10. No flux at r = a:
l a^(l-1) A_l,-m / (l + m)! = (l + 1) (l - m)! B_lm / a^(l+2); conductivity 1 - 4π B_10 / G. (Rayleigh, Phil. Mag. 34
(1892) 481; McPhedran & McKenzie, Proc. R. Soc. Lond. A 359 (1978) 45.)
"""
from math import factorial, pi

import numpy as np


def legendre(m, l, x):
    last = np.ones_like(x)
    for k in range(1, m + 1):
        last = -last * (2 * k - 1) * np.sqrt(1 - x * x)
    if l == m:
        return last
    value = x * (2 * m + 1) * last
    for k in range(m + 2, l + 1):
        last, value = value, ((2 * k - 1) * x * value - (k + m - 1) * last) / (k - m)
    return value


def lattice_sums(largest, periods):
    x, y, z = np.meshgrid(*3 * [np.arange(-periods, periods + 1.0)], indexing="ij")
    r = np.sqrt(x * x + y * y + z * z)
    near = (r > 0) & (r <= periods)
    x, y, z, r = x[near], y[near], z[near], r[near]
    return {(l, m): factorial(l - m) * np.sum(legendre(m, l, z / r) * np.cos(m * np.arctan2(y, x)) / r ** (l + 1))
            for l in range(4, largest + 1, 2) for m in range(0, l + 1, 4)}


def conductivity(solid, order, sums):
    a = (3 * solid / (4 * pi)) ** (1 / 3)
    modes = [(l, m) for l in range(1, order + 1, 2) for m in range(-4 * (l // 4), l + 1, 4)]
    matrix, right = np.zeros((len(modes), len(modes))), np.zeros(len(modes))
    for i, (k, n) in enumerate(modes):  # unknowns B_lm (l - m)! / a^(l+1)
        inside = k * a ** (k - 1) / factorial(k + n)
        matrix[i, i] += (k + 1) / a
        right[i] = inside if k == 1 else 0.0
        for j, (l, m) in enumerate(modes):
            given = -sums.get((l + k, abs(m - n)), 0.0)
            if k == l == 1:
                given -= 4 * pi / 3
            matrix[i, j] -= inside * given * a ** (l + 1) / factorial(l - m)
    return 1 - 4 * pi * a ** 2 * np.linalg.solve(matrix, right)[modes.index((1, 0))]


if __name__ == "__main__":
    for periods in (30, 40):
        sums = lattice_sums(42, periods)
        for solid in (0.125, 0.343):
            print(periods, solid, [f"{conductivity(solid, order, sums):.8f}" for order in (1, 3, 7, 13, 21)])

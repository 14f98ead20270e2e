#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flow with inertia through a square array of cylinders of period 1: the reference values of SteadySolver.CylinderArray….

-Δu + R (u·∇)u + ∇p = e_x, ∇·u = 0 by Taylor-Hood elements (Q2 velocity, Q1 pressure) on a ring of N by N / 3 elements
between the cylinder and the square, whose outer nodes are connected periodically; Newton's method, sparse LU. Prints the
drag 1 / U of Stokes flow and, per R, R U (the Reynolds number of the period) and U divided by that of R = 0.

    cylinder_inertia.py 0.2 0,500,2000 24,48      # solid fraction, R (first 0), N
"""
import sys

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl


def nodes(n, m, radius):
    """Node places, 2 n around by 2 m + 1 outwards, finer at the cylinder."""
    s = 4.0 * np.arange(2 * n) / (2 * n)
    side = s.astype(int)
    t = np.tan((s - side - 0.5) * np.pi / 2) / 2
    outer = np.stack([np.choose(side, [t, 0.5, -t, -0.5]), np.choose(side, [-0.5, t, 0.5, -t])])
    inner = radius * outer / np.hypot(*outer)
    e = np.linspace(0, 1, 2 * m + 1)
    w = e + 0.35 * e * (e - 1)
    return inner[:, :, None] * (1 - w) + outer[:, :, None] * w


def quadratic(x):
    return np.array([x * (x - 1) / 2, 1 - x * x, x * (x + 1) / 2]), np.array([x - 0.5, -2 * x, x + 0.5])


class Array:
    def __init__(self, n, radius):
        m = n // 3
        place = nodes(n, m, radius)
        shape = place.shape[1:]
        index = np.arange(shape[0] * shape[1]).reshape(shape)
        same, known = index.copy(), {}
        for i in range(shape[0]):
            wrapped = tuple(round(-0.5 if abs(c - 0.5) < 1e-9 else c, 9) for c in place[:, i, -1])
            same[i, -1] = known.setdefault(wrapped, index[i, -1])
        same = same.ravel()
        free = np.ones(same.size, bool)
        free[index[:, 0]] = False
        self.nv, velocity = self.number(same, free)
        vertex = np.zeros(shape, bool)
        vertex[::2, ::2] = True
        self.np, pressure = self.number(same, vertex.ravel())
        i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
        element = np.stack([index[(2 * i + p) % (2 * n), 2 * j + q] for p in range(3) for q in range(3)], 1)
        self.v, self.p = velocity[element], pressure[element[:, [0, 2, 6, 8]]]
        self.points = self.quadrature(place[0].ravel()[element], place[1].ravel()[element])
        self.size = 2 * self.nv + self.np
        hole = lambda shift: np.where(self.v >= 0, self.v + shift, self.size)
        self.dof = np.concatenate([hole(0), hole(self.nv), self.p + 2 * self.nv], 1)

    @staticmethod
    def number(same, wanted):
        kept = np.unique(same[wanted])
        name = -np.ones(same.size + 1, int)
        name[kept] = np.arange(len(kept))
        return len(kept), np.where(wanted, name[same], -1)

    @staticmethod
    def quadrature(x, y):
        g, found = np.sqrt(0.6), []
        for a, wa in zip([-g, 0, g], [5 / 9, 8 / 9, 5 / 9]):
            for b, wb in zip([-g, 0, g], [5 / 9, 8 / 9, 5 / 9]):
                (na, da), (nb, db) = quadratic(a), quadratic(b)
                n, ga, gb = np.outer(na, nb).ravel(), np.outer(da, nb).ravel(), np.outer(na, db).ravel()
                xa, xb, ya, yb = x @ ga, x @ gb, y @ ga, y @ gb
                det = xa * yb - xb * ya
                dx = (np.outer(yb, ga) - np.outer(ya, gb)) / det[:, None]
                dy = (np.outer(xa, gb) - np.outer(xb, ga)) / det[:, None]
                linear = np.outer([(1 - a) / 2, (1 + a) / 2], [(1 - b) / 2, (1 + b) / 2]).ravel()
                found.append((np.abs(det) * wa * wb, n, dx, dy, linear))
        return found

    def parts(self, x):
        padded = lambda values: np.append(values, 0.0)[self.v]
        return padded(x[: self.nv]), padded(x[self.nv : 2 * self.nv]), x[2 * self.nv :][self.p]

    def system(self, x, inertia):
        """Derivative and residual at x; the first pressure is held at 0."""
        u, v, p = self.parts(x)
        k, f = np.zeros((len(u), 22, 22)), np.zeros((len(u), 22))
        for w, n, dx, dy, m in self.points:
            here = (u @ n, v @ n)
            slope = [[(c * d).sum(1) for d in (dx, dy)] for c in (u, v)]
            stiff = np.einsum("e,ei,ej->eij", w, dx, dx) + np.einsum("e,ei,ej->eij", w, dy, dy)
            stiff += inertia * np.einsum("e,i,ej->eij", w, n, here[0][:, None] * dx + here[1][:, None] * dy)
            mass = inertia * np.einsum("e,i,j->eij", w, n, n)
            for c in range(2):
                rows = slice(9 * c, 9 * c + 9)
                k[:, rows, rows] += stiff
                carried = here[0] * slope[c][0] + here[1] * slope[c][1]
                for d, g in enumerate((dx, dy)):
                    k[:, rows, 9 * d : 9 * d + 9] += mass * slope[c][d][:, None, None]
                    f[:, rows] -= w[:, None] * g * slope[c][d][:, None]
                g = (dx, dy)[c]
                f[:, rows] += w[:, None] * (n * ((1.0 if c == 0 else 0.0) - inertia * carried)[:, None] + g * (p @ m)[:, None])
                b = np.einsum("e,ei,k->eik", w, g, m)
                k[:, rows, 18:] -= b
                k[:, 18:, rows] -= b.transpose(0, 2, 1)
            f[:, 18:] += w[:, None] * m * (slope[0][0] + slope[1][1])[:, None]
        places = (np.repeat(self.dof, 22, 1).ravel(), np.tile(self.dof, (1, 22)).ravel())
        matrix = sp.coo_matrix((k.ravel(), places), shape=(self.size + 1,) * 2).tocsr()[: self.size, : self.size]
        rest = np.zeros(self.size + 1)
        np.add.at(rest, self.dof.ravel(), f.ravel())
        held = 2 * self.nv
        keep = np.ones(self.size)
        keep[held] = 0
        rest[held] = -x[held]
        return (sp.diags(keep) @ matrix + sp.diags(1 - keep)).tocsc(), rest[:-1]

    def solve(self, inertias):
        x, found = np.zeros(self.size), []
        for inertia in inertias:
            change = 1.0
            while change > 1e-11:
                step = sl.spsolve(*self.system(x, inertia))
                x += step
                change = np.abs(step[: self.nv]).max() / np.abs(x[: self.nv]).max()
            u = self.parts(x)[0]
            found.append(sum((w * (u @ n)).sum() for w, n, *_ in self.points))
        return found


if __name__ == "__main__":
    fraction, inertias = float(sys.argv[1]), [float(r) for r in sys.argv[2].split(",")]
    for n in map(int, sys.argv[3].split(",")):
        u = Array(n, np.sqrt(fraction / np.pi)).solve(inertias)
        print(n, f"drag {1 / u[0]:.4f}", *(f"R {r:g}: Re {r * k:.3f}, U / U0 {k / u[0]:.6f}" for r, k in zip(inertias, u)))

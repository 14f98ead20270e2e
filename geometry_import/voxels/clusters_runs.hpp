// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "geometry_import/voxels/clusters.hpp"

namespace karst {

/// f(i, j) for all runs a[i], b[j] of two neighbouring rows that are in contact. Not collective.
template <class F>
void for_contacts(std::span<const ClusterRun> a, std::span<const ClusterRun> b, Contact contact, F&& f) {
  const int reach = contact == Contact::corners ? 1 : 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first < b[j].last + reach && b[j].first < a[i].last + reach) f(i, j);
    a[i].last < b[j].last ? ++i : ++j;
  }
}

/// Lowest member of the set of i, where parent(i) <= i is a reference to any other member; shortens the way.
template <class I, class Parent>
I find_root(I i, Parent&& parent) {
  while (parent(i) != i) {
    parent(i) = parent(parent(i));
    i = parent(i);
  }
  return i;
}

/// Joins the sets of a and b; the lowest member stays the root.
template <class I, class Parent>
void unite(I a, I b, Parent&& parent) {
  a = find_root(a, parent);
  b = find_root(b, parent);
  if (a > b) std::swap(a, b);
  parent(b) = a;
}

}  // namespace karst

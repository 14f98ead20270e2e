// SPDX-License-Identifier: BSD-3-Clause
#include "fields/cell_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

/// f(level, box, own VoF, own unknown) for the unknowns of an own box.
template <class F>
void for_each_unknown(const Composite& grid, int l, int box, F&& f) {
  const auto numbers = grid.numbering().numbers(l, box);
  const std::int32_t begin = grid.numbering().box_begin(l, box);
  const int n = grid.graph(l).slots()->n_own(box);
  for (int v = 0; v < n; ++v)
    if (const std::int32_t u = numbers.empty() ? begin + v : numbers[v]; u >= 0) f(v, u);
}

/// Σ over own boxes of sum(level, box), in an order that does not depend on the threads.
template <class F>
double sum_over_boxes(const Composite& grid, F&& sum) {
  double all = 0.0;
  for (int l = 0; l < grid.n_levels(); ++l)
    all += parallel_sum(grid.graph(l).n_local(), [&](std::int64_t b) { return sum(l, static_cast<int>(b)); });
  return grid.comm().sum(all);
}

}  // namespace

CellField::CellField(std::shared_ptr<const Composite> composite, int n_components, Purpose purpose)
    : OverLevels(std::move(composite), n_components) {
  for (int l = 0; l < composite_->n_levels(); ++l) levels_.emplace_back(composite_->graph(l), n_components, purpose);
}

void copy(const CellField& from, CellField& to) {
  require(from.composite() == to.composite() && from.n_components() == to.n_components(),
          "copy of a field: {} components onto {} on {} grid", from.n_components(), to.n_components(),
          from.composite() == to.composite() ? "the same" : "another");
  for (int l = 0; l < from.n_levels(); ++l)
    parallel_for(from.level(l).n_local(), [&](std::int64_t b) {
      for (int c = 0; c < from.n_components(); ++c)
        std::ranges::copy(from.level(l).box(static_cast<int>(b), c), to.level(l).box(static_cast<int>(b), c).begin());
    });
}

void get_unknowns(const CellField& field, std::span<double> values) {
  const std::size_t n = field.n_components();
  for (int l = 0; l < field.n_levels(); ++l)
    parallel_for(field.level(l).n_local(), [&](std::int64_t b) {
      for (std::size_t c = 0; c < n; ++c) {
        const auto from = field.level(l).own(static_cast<int>(b), static_cast<int>(c));
        for_each_unknown(field.grid(), l, static_cast<int>(b),
                         [&](std::size_t v, std::size_t u) { values[n * u + c] = from[v]; });
      }
    });
}

void set_unknowns(std::span<const double> values, CellField& field) {
  const std::size_t n = field.n_components();
  for (int l = 0; l < field.n_levels(); ++l)
    parallel_for(field.level(l).n_local(), [&](std::int64_t b) {
      for (std::size_t c = 0; c < n; ++c) {
        const auto to = field.level(l).own(static_cast<int>(b), static_cast<int>(c));
        for_each_unknown(field.grid(), l, static_cast<int>(b),
                         [&](std::size_t v, std::size_t u) { to[v] = values[n * u + c]; });
      }
    });
}

double dot(const CellField& a, const CellField& b, int component) {
  require(a.composite() == b.composite(), "dot of two fields: they are on different grids");
  return sum_over_boxes(a.grid(), [&](int l, int box) {
    const auto x = a.level(l).own(box, component), y = b.level(l).own(box, component);
    double sum = 0.0;
    for_each_unknown(a.grid(), l, box, [&](std::size_t v, std::size_t) { sum += x[v] * y[v]; });
    return sum;
  });
}

double max_norm(const CellField& a, int component) {
  double most = 0.0;
  for (int l = 0; l < a.n_levels(); ++l)
    most = std::max(most, parallel_max(a.level(l).n_local(), [&](std::int64_t b) {
                      const auto x = a.level(l).own(static_cast<int>(b), component);
                      double here = 0.0;
                      for_each_unknown(a.grid(), l, static_cast<int>(b), [&](std::size_t v, std::size_t) {
                        here = std::isnan(x[v]) || std::isnan(here) ? std::nan("") : std::max(here, std::abs(x[v]));
                      });
                      return std::isnan(here) ? std::numeric_limits<double>::infinity() : here;
                    }));
  return a.grid().comm().max(most);
}

double integral(const CellField& a, int component) {
  return sum_over_boxes(a.grid(), [&](int l, int box) {
    const double h3 = std::pow(Composite::width(l), 3);
    const auto x = a.level(l).own(box, component);
    const auto moments = a.grid().level(l).box(box).moments;
    const BoxGraph graph = a.grid().graph(l).box(box);
    std::size_t r = 0;
    double sum = 0.0;
    for_each_unknown(a.grid(), l, box, [&](std::size_t v, std::size_t) {
      while (r < moments.size() && graph.row_vof[r] < v) ++r;
      sum += (r < moments.size() && graph.row_vof[r] == v ? moments[r].kappa : 1.0) * x[v];
    });
    return h3 * sum;
  });
}

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

#include "app/deck/reactive_plan.hpp"
#include "app/transport/initial_values.hpp"
#include "app/transport/transport_setup.hpp"

namespace karst {

namespace {

Vec3 place_of(const JobContext& run, const Vec3& x) { return run.grid.cell_width() * (x - run.sample_low()); }

/// A face that something is wrong with.
struct WrongFace {
  Vec3 at;  ///< [m]
  double value = 0.0;
};

/// How many faces of all ranks are wrong, and the first of them by place. Collective.
/// @param wrong  (place, [out] value)
template <class F>
std::int64_t find_wrong(const JobContext& run, std::span<const BoundaryFace> faces, int side, F&& wrong,
                        WrongFace& first) {
  std::int64_t n = 0;
  const auto order = [](const WrongFace& f) { return std::tuple(f.at[2], f.at[1], f.at[0]); };
  for (const BoundaryFace& face : faces) {
    WrongFace found{place_of(run, face.at)};
    if (face.side != side || !wrong(found.at, found.value)) continue;
    if (n++ == 0 || order(found) < order(first)) first = found;
  }
  const std::int64_t all = run.comm.sum(n);
  if (all == 0) return 0;
  const std::vector<WrongFace> there = run.comm.all_gather(std::span<const WrongFace>(&first, n > 0 ? 1 : 0));
  first = *std::ranges::min_element(there, {}, order);
  return all;
}

std::string at_text(const WrongFace& face) {
  return fmt::format("({:.4g}, {:.4g}, {:.4g}) m", face.at[0], face.at[1], face.at[2]);
}

void check_inflows(const JobContext& run, std::span<const BoundaryFace> faces, int side, Messages& found) {
  std::vector<Formula> where;
  for (const InflowDeck& inflow : run.config.chemistry.inflows) where.emplace_back(inflow.where);
  WrongFace first;
  const auto n_there = [&](const Vec3& x) {
    double n = 0.0;
    for (const Formula& f : where) n += value_in(f, x) != 0.0 ? 1.0 : 0.0;
    return n;
  };
  const std::int64_t n = find_wrong(
      run, faces, side,
      [&](const Vec3& x, double& there) {
        there = n_there(x);
        return there != 1.0;
      },
      first);
  if (n > 0)
    found.add(
        "chemistry.inflow: on {} faces of the inlet not one solution enters: at {} {}; give conditions (where) of "
        "which one holds at each place",
        n, at_text(first), first.value == 0.0 ? std::string("none") : fmt::format("{:.0f}", first.value));
}

bool is_of_place(const std::string& text) {
  const NamedFormula formula(text, {{"x", "y", "z"}, "formula", "x, y, z in metres"});
  return formula.uses(0) || formula.uses(1) || formula.uses(2);
}

/// Of a formula on the faces of a side. Collective.
ValueSpan span_on(const JobContext& run, std::span<const BoundaryFace> faces, int side, const Formula& formula) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (const BoundaryFace& face : faces) {
    if (face.side != side) continue;
    const double value = value_in(formula, place_of(run, face.at));
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  return {-run.comm.max(-least), run.comm.max(largest)};
}

/// A formula of place that has one value.
void add_same(const std::string& key, const std::string& text, double value, Messages& found) {
  found.add("{}: \"{}\" is {:.6g} everywhere; are its lengths in metres, from the low corner of the domain?", key, text,
            value);
}

}  // namespace

std::function<double(const Vec3&, double)> of_place(const JobContext& run, const std::string& formula) {
  return [&run, compiled = std::make_shared<const Formula>(formula)](const Vec3& x, double) {
    return value_in(*compiled, place_of(run, x));
  };
}

Messages inlet_mistakes(const JobContext& run, std::span<const BoundaryFace> faces, int side) {
  Messages found;
  if (!run.config.chemistry.inflows.empty()) check_inflows(run, faces, side, found);
  const std::vector<ComponentDeck>& components = run.config.transport.components;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const ComponentDeck& c = components[i];
    const bool total = run.config.reactive != nullptr && i >= run.config.reactive->first;
    if (!c.inlet_of_place || total) continue;
    const Formula formula(c.inlet);
    WrongFace first;
    const std::int64_t n = find_wrong(
        run, faces, side,
        [&](const Vec3& x, double& value) {
          value = value_in(formula, x);
          return !std::isfinite(value) || !out_of_bounds(c, value, 0.0).empty();
        },
        first);
    if (n == 0) continue;
    const std::string text = std::isfinite(first.value)
                                 ? out_of_bounds(c, first.value, 0.0)
                                 : fmt::format("\"{}\" is {}; it must be finite", c.inlet, first.value);
    found.add("transport.component[{}].inlet: at {} and {} other places {}", i, at_text(first), n - 1, text);
  }
  return found;
}

Messages place_warnings(const JobContext& run, std::span<const ValueSpan> initial, std::span<const BoundaryFace> faces,
                        int side) {
  constexpr double round_off = 1e-12;
  Messages found;
  const TransportDeck& deck = run.config.transport;
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    if (run.config.reactive != nullptr && i >= run.config.reactive->first) continue;  // a total
    const std::string key = fmt::format("transport.component[{}]", i);
    const auto& [least, largest] = initial[i];
    if (c.initial_file.empty() && deck.regions.empty() && is_of_place(c.initial) &&
        largest - least <= round_off * std::abs(largest))
      add_same(key + ".initial", c.initial, largest, found);
    if (!c.inlet_of_place || side < 0) continue;
    if (const ValueSpan there = span_on(run, faces, side, Formula(c.inlet)); there.least == there.largest)
      add_same(key + ".inlet", c.inlet, there.largest, found);
  }
  for (std::size_t i = 0; i < run.config.chemistry.inflows.size() && side >= 0; ++i)
    if (const InflowDeck& inflow = run.config.chemistry.inflows[i];
        span_on(run, faces, side, Formula(inflow.where)) == ValueSpan{0.0, 0.0})
      found.add(
          "chemistry.inflow[{}].where: \"{}\" holds nowhere on the inlet, so {} never enters; are its lengths in "
          "metres, from the low corner of the domain?",
          i, inflow.where, inflow.solution);
  return found;
}

}  // namespace karst

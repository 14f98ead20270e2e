// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/diffusion_rows.hpp"
#include "grid/questions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

namespace karst {
namespace {

constexpr std::int64_t rows_at_once = 256;  ///< in a window

/// A substitution of unknowns by combinations of others, each known to its owner.
class Substitution {
 public:
  /// @param of_own  combination of an own unknown
  Substitution(const Comm& comm, const CompositeNumbering& numbering, std::function<Stencil(std::int32_t)> of_own)
      : comm_(comm), numbering_(numbering), of_own_(std::move(of_own)) {}

  /// Replaces all unknowns in these combinations. Collective.
  void operator()(std::vector<Stencil>& all) {
    fetch(all);
    parallel_for_dynamic(std::ssize(all), [&](std::int64_t i) {
      Stencil result;
      for (const StencilTerm& t : all[i].terms) {
        if (numbering_.is_own(t.unknown))
          result.add(of_own_(static_cast<std::int32_t>(t.unknown - numbering_.first())), t.weight);
        else
          result.add(remote_.at(t.unknown), t.weight);
      }
      result.merge();
      all[i] = std::move(result);
    });
  }

 private:
  void fetch(const std::vector<Stencil>& all) {
    std::vector<GlobalNumber> wanted;
    for (const Stencil& s : all)
      for (const StencilTerm& t : s.terms)
        if (!numbering_.is_own(t.unknown)) wanted.push_back(t.unknown);
    std::ranges::sort(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::map<int, ByteWriter> questions;
    for (const GlobalNumber g : wanted) questions[numbering_.owner(g)].put(g);
    const auto answer = [&](ByteReader& in, ByteWriter& w) {
      const auto g = in.get<GlobalNumber>();
      w.put(g);
      w.put_vector(of_own_(static_cast<std::int32_t>(g - numbering_.first())).terms);
    };
    ask_ranks(comm_, std::move(questions), answer, [&](ByteReader& in, int) {
      const auto g = in.get<GlobalNumber>();
      remote_[g].terms = in.get_vector<StencilTerm>();
    });
  }

  const Comm& comm_;
  const CompositeNumbering& numbering_;
  std::function<Stencil(std::int32_t)> of_own_;
  std::map<GlobalNumber, Stencil> remote_;
};

/// Place of each own volume in a list, or -1.
std::vector<std::int32_t> places_of(const ScalarGrid& grid, std::span<const std::int32_t> volumes) {
  std::vector<std::int32_t> place(grid.n_own, -1);
  for (std::size_t m = 0; m < volumes.size(); ++m) place[volumes[m]] = static_cast<std::int32_t>(m);
  return place;
}

/// Values on the ends of the domain are 0.
Stencil moved_value(const ScalarGrid& grid, const MovedValues& moved, std::int32_t place, std::int32_t volume) {
  const GlobalNumber first = grid.composite->numbering().first();
  Stencil s;
  s.add(first + volume, 1.0);
  if (place < 0) return s;
  for (std::int64_t k = moved.begin[place]; k < moved.begin[place + 1]; ++k) {
    const std::int32_t other = moved.other[k];
    s.add(first + volume, -moved.weight[k]);
    if (other < grid.n_own)
      s.add(first + other, moved.weight[k]);
    else if (other < grid.n_all)
      s.add(grid.remote.numbers()[other - grid.n_own], moved.weight[k]);
  }
  s.merge();
  return s;
}

/// K in the special volumes.
std::vector<Stencil> rows_of(const ScalarGrid& grid, const EllipticOperator& op) {
  std::vector<Stencil> rows(grid.special.size());
  std::size_t next = 0;
  op.for_each_row([&](std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights) {
    if (next == grid.special.size() || grid.special[next] != row) return;
    for (std::size_t k = 0; k < columns.size(); ++k) rows[next].add(columns[k], weights[k]);
    ++next;
  });
  return rows;
}

/// K J T E in the special volumes.
std::vector<Stencil> composed_rows(const ScalarGrid& grid, const EllipticOperator& op, const MovedValues& moved,
                                   const MovedValues& followers) {
  const CompositeNumbering& numbering = op.numbering();
  std::vector<Stencil> rows = rows_of(grid, op);
  const std::vector<std::int32_t> joined = op.joined_orphans();
  std::vector<Stencil> extrapolated(joined.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const Stencil& row = rows[std::ranges::lower_bound(grid.special, joined[i]) - grid.special.begin()];
    const GlobalNumber own = numbering.first() + joined[i];
    const double diagonal = row.weight_of(own);
    for (const StencilTerm& t : row.terms)
      if (t.unknown != own) extrapolated[i].add(t.unknown, -t.weight / diagonal);
  }
  const auto moved_by = [&](const MovedValues& by) {
    return
        [&grid, &by, place = places_of(grid, by.volume)](std::int32_t v) { return moved_value(grid, by, place[v], v); };
  };
  Substitution(op.comm(), numbering, [&, place = places_of(grid, joined)](std::int32_t v) {
    if (place[v] >= 0) return extrapolated[place[v]];
    Stencil itself;
    itself.add(numbering.first() + v, 1.0);
    return itself;
  })(rows);
  Substitution(op.comm(), numbering, moved_by(moved))(rows);
  Substitution(op.comm(), numbering, moved_by(followers))(rows);
  return rows;
}

/// First unknowns of windows of about as many special volumes, and the end.
std::vector<std::int32_t> windows_of(const ScalarGrid& grid) {
  std::vector<std::int32_t> first{0};
  for (std::int64_t i = rows_at_once; i < std::ssize(grid.special); i += rows_at_once) first.push_back(grid.special[i]);
  first.push_back(grid.n_own);
  return first;
}

}  // namespace

std::int64_t MovedValues::bytes() const {
  return static_cast<std::int64_t>(sizeof(std::int32_t) * (volume.capacity() + other.capacity()) +
                                   sizeof(std::int64_t) * begin.capacity() + sizeof(double) * weight.capacity());
}

template <int C>
void move_values(const MovedValues& moved, std::span<const double> c, const std::array<double, C>& r,
                 std::span<double> phi) {
  parallel_for(std::ssize(phi) / C, [&](std::int64_t v) {
    for (int n = 0; n < C; ++n) phi[C * v + n] = c[C * v + n] - r[n];
  });
  parallel_for(std::ssize(moved.volume), [&](std::int64_t m) {
    const std::int64_t v = C * std::int64_t{moved.volume[m]};
    std::array<double, C> sum{};
    for (auto k = moved.begin[m]; k < moved.begin[m + 1]; ++k) {
      const std::int64_t other = C * std::int64_t{moved.other[k]};
      for (int n = 0; n < C; ++n) sum[n] += moved.weight[k] * (c[other + n] - c[v + n]);
    }
    for (int n = 0; n < C; ++n) phi[v + n] += sum[n];
  });
}

std::int64_t DiffusionRows::bytes() const {
  return rows.bytes() + remote.bytes() +
         static_cast<std::int64_t>(far.bytes() + diagonal.bytes() + others.bytes() + mass.bytes());
}

DiffusionRows make_diffusion_rows(ScalarGrid& grid, EllipticOperator& op, const MovedValues& moved,
                                  const MovedValues& followers) {
  const CompositeNumbering& numbering = op.numbering();
  DiffusionRows result;
  result.diffusivity = op.problem().beta;
  std::vector<Stencil> composed = composed_rows(grid, op, moved, followers);
  std::vector<WideRow> rows(composed.size());
  std::vector<GlobalNumber> wanted;
  result.diagonal = {rows.size(), Purpose::stencils, 0.0};
  result.others = {rows.size(), Purpose::stencils, 0.0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].number = grid.special[i];
    if (grid.fragment[grid.special[i]] != 0) continue;  // no unknown
    rows[i].stencil = std::move(composed[i]);
    for (const StencilTerm& t : rows[i].stencil.terms) {
      if (!numbering.is_own(t.unknown)) wanted.push_back(t.unknown);
      if (t.unknown == numbering.first() + grid.special[i])
        result.diagonal[i] = t.weight;
      else
        result.others[i] += std::abs(t.weight);
    }
  }
  result.remote = RemoteUnknowns(op.comm(), numbering, std::move(wanted));
  const std::vector<std::int32_t> windows = windows_of(grid);
  result.n_windows = static_cast<int>(windows.size()) - 1;
  result.rows = WideRows(rows, windows, numbering, result.remote);
  result.mass = Array<double>(grid.n_own, Purpose::geometry);
  std::copy_n(grid.volume.begin(), grid.n_own, result.mass.begin());
  for (const VolumeOfOther& v : op.volumes_of_others()) result.mass[v.row] += v.volume;
  return result;
}

template <int C>
void apply_special(const ScalarGrid& grid, DiffusionRows& rows, std::span<const double> x, std::span<double> y) {
  using Many = std::array<double, C>;
  const std::span<const double> own = x.first(std::size_t{C} * grid.n_own);
  const std::size_t n_far = rows.remote.numbers().size();
  if (rows.far.size() < C * n_far) rows.far = {C * n_far, Purpose::buffers, 0.0};
  const std::span<double> far = rows.far.span().first(C * n_far);
  ListExchange& exchange = rows.remote.exchange();
  exchange.begin(std::span(reinterpret_cast<Many*>(far.data()), n_far), [&](std::size_t i) {
    Many many;
    std::copy_n(own.data() + C * std::int64_t{exchange.sent()[i]}, C, many.data());
    return many;
  });
  enum class Windows { inner, reading_remote };
  const auto apply_windows = [&](Windows which) {
    parallel_for(rows.n_windows, [&](std::int64_t w) {
      if (rows.rows.reads_remote(w) == (which == Windows::reading_remote)) rows.rows.apply<C>(w, own, far, y.data());
    });
  };
  apply_windows(Windows::inner);
  exchange.finish();
  apply_windows(Windows::reading_remote);
}

template <int C>
void apply_rows(ScalarGrid& grid, DiffusionRows& rows, double a, std::span<double> x, std::span<double> y) {
  fetch_remote<C>(grid, x);
  apply_special<C>(grid, rows, x, y);
  const double* const from = x.data();
  double* const to = y.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double h = grid.width(p.level), g = rows.diffusivity * h, center = a * h * h * h + 6.0 * g;
    std::array<const double*, 6> side;
    for (std::size_t s = 0; s < 6; ++s) side[s] = from + C * std::int64_t{p.beyond[s]};
    const auto [x0, x1, x2, x3, x4, x5] = side;
    const std::int64_t first = C * std::int64_t{p.first};
#pragma GCC ivdep
    for (std::int32_t t = 0; t < C * p.count; ++t)
      to[first + t] = center * from[first + t] - g * (((x0[t] + x1[t]) + (x2[t] + x3[t])) + (x4[t] + x5[t]));
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    for (std::int64_t k = C * std::int64_t{v}; k < C * (std::int64_t{v} + 1); ++k) to[k] += a * rows.mass[v] * from[k];
  });
}

template void move_values<1>(const MovedValues&, std::span<const double>, const std::array<double, 1>&,
                             std::span<double>);
template void move_values<2>(const MovedValues&, std::span<const double>, const std::array<double, 2>&,
                             std::span<double>);
template void move_values<3>(const MovedValues&, std::span<const double>, const std::array<double, 3>&,
                             std::span<double>);
template void move_values<4>(const MovedValues&, std::span<const double>, const std::array<double, 4>&,
                             std::span<double>);
template void apply_special<1>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_special<2>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_special<3>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_special<4>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_rows<1>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);
template void apply_rows<2>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);
template void apply_rows<3>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);
template void apply_rows<4>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);

}  // namespace karst

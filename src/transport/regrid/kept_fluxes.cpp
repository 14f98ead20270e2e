// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/kept_fluxes.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

/// Of the grid before: where its volumes are.
class PlacesBefore {
 public:
  explicit PlacesBefore(const ScalarGrid& grid) : grid_(grid), place_(grid.n_own, Purpose::buffers) {
    parallel_for(std::ssize(grid.special),
                 [&](std::int64_t s) { place_[grid.special[s]] = static_cast<std::int32_t>(s); });
    parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
      std::fill_n(place_.begin() + grid.plain[i].first, grid.plain[i].count, ~static_cast<std::int32_t>(i));
    });
  }
  /// Plain volumes in which it is; nullptr: it is not plain.
  const PlainVolumes* plain(std::int32_t v) const { return place_[v] < 0 ? &grid_.plain[~place_[v]] : nullptr; }
  /// Its place among the special volumes.
  std::int32_t special(std::int32_t v) const { return place_[v]; }

 private:
  const ScalarGrid& grid_;
  Array<std::int32_t> place_;
};

/// Openness of listed faces, by face.
Array<double> openness_of(const ScalarGrid& grid) {
  Array<double> all(grid.n_faces, Purpose::buffers);
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes& p = grid.plain[i];
    for (std::int32_t d = 0; d < 3; ++d) std::fill_n(all.begin() + d * grid.n_all + p.first, p.count, 1.0);
  });
  parallel_for(std::ssize(grid.listed),
               [&](std::int64_t i) { all[grid.listed[i].face] = grid.listed[i].fragment ? 0.0 : grid.conductance[i]; });
  return all;
}

class Copy {
 public:
  Copy(GridChange& change, const FluxesBefore& before)
      : before_(before),
        now_(change.to),
        was_(before.step.from),
        itself_(before.step.itself),
        places_(was_),
        dirty_(change) {}

  std::vector<std::uint8_t> run(GridChange& change, std::span<const RemoteItem> coarsest, std::span<double> flux) {
    find_staying();
    mark(change, coarsest);
    std::vector<double> old(was_.n_faces);
    list_fluxes(was_, before_.faces, old);
    std::vector<std::uint8_t> known(now_.n_faces, 0);
    const auto stays = [&](std::int32_t v) { return !dirty_.has(change.source[v]); };
    const auto take = [&](std::int32_t face, std::int32_t from) {
      flux[face] = old[from];
      known[face] = 1;
    };
    parallel_for(std::ssize(now_.plain), [&](std::int64_t i) {
      const PlainVolumes& p = now_.plain[i];
      for (std::int32_t t = 0; t < p.count; ++t) {
        if (!stays(p.first + t)) continue;
        for (std::int32_t d = 0; d < 3; ++d)
          if (stays(p.beyond[2 * d] + t)) take(d * now_.n_all + p.first + t, d * was_.n_all + itself_[p.first + t]);
      }
    });
    for_special([&](std::int32_t v, std::int64_t s) {
      if (!stays(v)) return;
      const std::int64_t first = was_.special_begin[places_.special(itself_[v])];
      for (std::int64_t k = now_.special_begin[s]; k < now_.special_begin[s + 1]; ++k) {
        const VolumeFace& face = now_.volume_faces[k];
        if (face.other() >= now_.n_all || (face.outward() < 0.0 && stays(face.other())))
          take(face.face(), was_.volume_faces[first + (k - now_.special_begin[s])].face());
      }
    });
    return known;
  }

 private:
  template <class F>
  void for_special(F&& f) {
    parallel_for(std::ssize(now_.special), [&](std::int64_t s) { f(now_.special[s], s); });
  }
  /// Volumes that have all the faces that they had, to the same volumes; those beside other ranks are not known.
  void find_staying() {
    staying_.assign(now_.n_own, 0);
    const auto is_same = [&](std::int32_t now, std::int32_t was) { return now < now_.n_own && itself_[now] == was; };
    parallel_for(std::ssize(now_.plain), [&](std::int64_t i) {
      const PlainVolumes& p = now_.plain[i];
      for (std::int32_t t = 0; t < p.count; ++t) {
        const std::int32_t v = p.first + t, k = itself_[v];
        const PlainVolumes* const q = k < 0 ? nullptr : places_.plain(k);
        if (q == nullptr) continue;
        bool same = true;
        for (std::size_t side = 0; side < 6; ++side)
          same = same && is_same(p.beyond[side] + t, q->beyond[side] + (k - q->first));
        staying_[v] = same ? 1 : 0;
      }
    });
    const Array<double> open = openness_of(now_), open_before = openness_of(was_);
    for_special([&](std::int32_t v, std::int64_t s) {
      const std::int32_t k = itself_[v], place = k < 0 ? -1 : places_.special(k);
      if (place < 0) return;
      const std::int64_t n = now_.special_begin[s + 1] - now_.special_begin[s];
      if (was_.special_begin[place + 1] - was_.special_begin[place] != n) return;
      for (std::int64_t i = 0; i < n; ++i) {
        const VolumeFace &a = now_.volume_faces[now_.special_begin[s] + i],
                         &b = was_.volume_faces[was_.special_begin[place] + i];
        const bool end = a.other() >= now_.n_all && b.other() >= was_.n_all &&
                         now_.boundary[a.other() - now_.n_all].side == was_.boundary[b.other() - was_.n_all].side;
        if (a.outward() != b.outward() || !(end || is_same(a.other(), b.other())) ||
            open[a.face()] != open_before[b.face()])
          return;
      }
      staying_[v] = 1;
    });
  }
  /// Sources that have got or lost a volume, or one of whose volumes has other faces, or that cover others.
  void mark(const GridChange& change, std::span<const RemoteItem> coarsest) {
    std::vector<std::uint8_t> is_there(was_.n_own, 0);
    for (std::int32_t v = 0; v < now_.n_own; ++v)
      if (staying_[v] != 0)
        is_there[itself_[v]] = 1;
      else
        dirty_.add(change.id[v]);
    for (std::int32_t v = 0; v < was_.n_own; ++v)
      if (is_there[v] == 0) dirty_.add(before_.sources[v]);
    for (std::size_t v = 0; v < coarsest.size(); ++v) {
      if (coarsest[v] == before_.coarsest[v]) continue;
      dirty_.add(coarsest[v]);
      dirty_.add(before_.coarsest[v]);
    }
    dirty_.finish();
  }

  const FluxesBefore& before_;
  const ScalarGrid &now_, &was_;
  std::span<const std::int32_t> itself_;
  PlacesBefore places_;
  SourceMarks dirty_;
  std::vector<std::uint8_t> staying_;  // of the own volumes
};

}  // namespace

std::vector<RemoteItem> coarsest_sources(const GridChange& change) {
  std::vector<RemoteItem> all = change.heir;
  for (std::int32_t v = 0; v < change.from.n_own; ++v)
    if (!change.ancestors_of(v).empty()) all[v] = change.ancestors_of(v).back();
  return all;
}

std::vector<std::uint8_t> copy_fluxes(GridChange& change, std::span<const RemoteItem> coarsest,
                                      const FluxesBefore& before, std::span<double> now) {
  return Copy(change, before).run(change, coarsest, now);
}

}  // namespace karst

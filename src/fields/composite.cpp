// SPDX-License-Identifier: BSD-3-Clause
#include "fields/composite.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "grid/bytes.hpp"

namespace karst {

Composite::Composite(const Comm& comm, std::shared_ptr<const Geometry> geometry,
                     std::shared_ptr<const CompositeNumbering> numbering)
    : comm_(comm),
      geometry_(std::move(geometry)),
      id_(geometry_->id),
      numbering_(std::move(numbering)),
      parts_(n_levels()) {
  for (int l = 0; l < n_levels(); ++l) list_covered(l);
  if (n_levels() == 1) return;
  find_coarse_fine();
  for (int l = 0; l + 1 < n_levels(); ++l) find_entrances(l);
}

void Composite::list_covered(int l) {
  PerBox<std::uint16_t>& covered = parts_[l].covered;
  for (int b = 0; b < graph(l).n_local(); ++b) {
    const auto numbers = numbering_->numbers(l, b);
    for (std::size_t v = 0; v < numbers.size(); ++v)
      if (numbers[v] < 0) covered.items.push_back(static_cast<std::uint16_t>(v));
    covered.begin.push_back(std::ssize(covered.items));
  }
}

void Composite::find_coarse_fine() {
  std::vector<NumberField> numbers;
  std::vector<VofLookup> vofs;
  numbers.reserve(parts_.size());  // the look-ups point at them
  for (int l = 0; l < n_levels(); ++l) {
    numbers.push_back(numbering_->global_numbers(comm_, graph(l), l));
    vofs.emplace_back(level(l), *numbering_, numbers.back());
    if (comm_.size() > 1) vofs.back().fetch(comm_, at_level_boundary(vofs.back()), rings_at_levels);
  }
  for (int l = 0; l + 1 < n_levels(); ++l) {
    PerBox<LevelFace>& faces = parts_[l].to_coarser;
    faces.items = find_level_faces(comm_, vofs[l], vofs[l + 1]);
    std::size_t i = 0;
    for (int b = 0; b < graph(l + 1).n_local(); ++b) {
      while (i < faces.items.size() && graph(l + 1).local(box_of(faces.items[i].vof)) == b) ++i;
      faces.begin.push_back(static_cast<std::int64_t>(i));
    }
  }
}

void Composite::find_entrances(int l) {
  struct Arrival {
    VofName coarse;
    CoarseEntrance entrance;
    int rank;
  };
  Part& part = parts_[l];
  std::vector<Arrival> arrivals;
  std::map<int, ByteWriter> to_owner;
  for (std::size_t i = 0; i < part.to_coarser.items.size(); ++i) {
    const LevelFace& f = part.to_coarser.items[i];
    if (!f.behind.found) continue;
    to_owner[graph(l).layout().owner(box_of(f.behind.vof))].put(
        Arrival{f.behind.vof,
                {static_cast<std::uint16_t>(vof_of(f.behind.vof)), static_cast<std::uint8_t>(f.place.side),
                 static_cast<std::int32_t>(i), f.vof},
                comm_.rank()});
  }
  std::vector<Message> out;
  for (auto& [rank, w] : to_owner) out.push_back({rank, w.take()});
  for (const Message& m : comm_.sparse_exchange(std::move(out)))
    for (ByteReader in(m.bytes); !in.at_end();) arrivals.push_back(in.get<Arrival>());
  for (const Arrival& a : arrivals)
    if (a.rank != comm_.rank()) part.remote.push_back({a.rank, a.entrance.value});
  std::ranges::sort(part.remote);
  std::ranges::sort(arrivals, {},
                    [](const Arrival& a) { return std::tuple(a.coarse, a.entrance.fine, a.entrance.value); });
  const auto n_own = static_cast<std::int32_t>(part.to_coarser.items.size());
  auto next = arrivals.begin();
  for (int b = 0; b < graph(l).n_local(); ++b) {
    for (; next != arrivals.end() && graph(l).local(box_of(next->coarse)) == b; ++next) {
      CoarseEntrance e = next->entrance;
      if (next->rank != comm_.rank())
        e.value =
            n_own + static_cast<std::int32_t>(std::ranges::lower_bound(part.remote, RemoteItem{next->rank, e.value}) -
                                              part.remote.begin());
      part.entrances.items.push_back(e);
    }
    part.entrances.begin.push_back(std::ssize(part.entrances.items));
  }
}

std::int64_t Composite::bytes() const {
  const auto of = [](const auto& list) {
    return list.items.capacity() * sizeof(list.items[0]) + list.begin.capacity() * sizeof(std::int64_t);
  };
  std::size_t sum = 0;
  for (const Part& p : parts_)
    sum += of(p.covered) + of(p.to_coarser) + of(p.entrances) + p.remote.capacity() * sizeof(RemoteItem);
  return numbering_->bytes() + static_cast<std::int64_t>(sum);
}

}  // namespace karst

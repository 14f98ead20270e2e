// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "eb/geometry.hpp"
#include "fields/composite_numbering.hpp"
#include "fields/remote_values.hpp"

namespace karst {

/// Where cells without a VoF of their own find their values: their fluid has joined VoFs of neighbours (home cells),
/// maybe of other ranks.
class JoinedCells {
 public:
  /// Collective.
  JoinedCells(const Comm& comm, std::shared_ptr<const Geometry> geometry,
              std::shared_ptr<const CompositeNumbering> numbering);

  /// Values of the homes on other ranks, to stand behind those of the own unknowns. Collective.
  /// @param value  of an own unknown
  template <class T>
  std::vector<T> remote(const std::function<T(std::size_t unknown)>& value) const {
    RemoteUnknowns homes(comm_, *numbering_, wanted_);
    ListExchange& exchange = homes.exchange();
    std::vector<T> values(homes.numbers().size());
    exchange.begin(std::span(values),
                   [&](std::size_t i) { return value(static_cast<std::size_t>(exchange.sent()[i])); });
    exchange.finish();
    return values;
  }
  /// Of each entry of LevelGeometry::joined: number of its home among the own unknowns and what remote() gives behind
  /// them; -1 for none.
  std::span<const std::int32_t> homes(int level) const { return homes_[level]; }
  const Geometry& geometry() const { return *geometry_; }
  const CompositeNumbering& numbering() const { return *numbering_; }

 private:
  Comm comm_;
  std::shared_ptr<const Geometry> geometry_;
  std::shared_ptr<const CompositeNumbering> numbering_;
  std::vector<GlobalNumber> wanted_;
  std::vector<std::vector<std::int32_t>> homes_;
};

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
// What higher layers make of a grid and share while they use it: one value of each type. Its users alone hold it. With
// the last of them it is gone, and whoever wants it then makes it again.
#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace karst {

/// By one thread at a time.
class InUse {
 public:
  /// The value of this type that somebody holds; none: nullptr.
  template <class T>
  std::shared_ptr<T> find() const {
    const auto kept = values_.find(typeid(T));
    return kept == values_.end() ? nullptr : std::static_pointer_cast<T>(kept->second.lock());
  }
  /// The value in use, or else make()'s, a std::shared_ptr<T>. Collective where make() is: all ranks must use the same.
  template <class T, class Make>
  std::shared_ptr<T> get(Make&& make) {
    std::shared_ptr<T> value = find<T>();
    if (!value) {
      value = std::forward<Make>(make)();
      values_[typeid(T)] = value;
    }
    return value;
  }

 private:
  std::map<std::type_index, std::weak_ptr<void>> values_;
};

}  // namespace karst

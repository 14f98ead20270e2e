// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/mpi_plugins.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string>
#include <vector>

namespace karst {

void keep_mpi_plugins_loaded() {
  std::vector<std::string> names;
  const auto note = [](dl_phdr_info* object, std::size_t, void* list) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(object->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &names);
  for (const std::string& name : names)
    if (!name.empty()) dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace karst

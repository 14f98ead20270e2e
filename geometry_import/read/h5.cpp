// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/h5.hpp"

#include "base/core/error.hpp"

namespace karst::h5 {
namespace {

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* into) {
  auto& text = *static_cast<std::string*>(into);
  if (error->desc && *error->desc) text = error->desc;
  return text.empty() ? 0 : 1;
}

}  // namespace

void fail(const std::string& path, const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  throw Error(fmt::format("{}: cannot {}: {}", path, what, reason.empty() ? "HDF5 gives no reason" : reason));
}

Quiet::Quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace karst::h5

// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_end.hpp"

#include <hdf5.h>

namespace karst {

void leave_hdf5_at_end() {
  H5dont_atexit();
  H5open();  // begins before MPI has begun, and so asks for no call when MPI ends
}

}  // namespace karst

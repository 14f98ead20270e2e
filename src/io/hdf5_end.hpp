// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// Disables the clean-up of HDF5 at the end of the program and of MPI: Karst closes what it opens. The clean-up would
/// close remaining objects, and a file that could not be written and is partly closed would end the program by a
/// signal. To be called before MPI starts. Not collective.
void leave_hdf5_at_end();

}  // namespace karst

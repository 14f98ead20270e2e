// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// HDF5 stays as it is when the program and MPI end: what we open we close. Of itself it closes what is left then, and
/// a file that it could not write and has half closed ends the program by a signal. Before MPI begins. Not collective.
void leave_hdf5_at_end();

}  // namespace karst

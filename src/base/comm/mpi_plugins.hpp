// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// Plugins that MPI has loaded stay in memory until the process ends; to be called after MPI_Init. MPI_Finalize of Open
/// MPI 4.1 unloads them while a thread of its own may still be about to call one of them (the PMIx client, told that
/// another rank has ended): on a busy machine two of some 3000 starts of two ranks ended in a segmentation fault there,
/// after their results. Not collective.
void keep_mpi_plugins_loaded();

}  // namespace karst

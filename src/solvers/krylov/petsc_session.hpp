// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace karst {

/// PETSc may be used during the lifetime of this object; MPI must be running before and after. It is initialised by the
/// first solver or matrix, or by options, because most runs do without. Several objects may exist at once: the
/// destructor of the first one finalises PETSc, unless an exception is in flight, because other ranks may then not take
/// part. All solver objects must have been destroyed by then. Construction with options and destruction are collective
/// over all ranks.
class PetscSession {
 public:
  /// @param options  as on a command line: {"-pressure_pc_type", "gamg"}
  /// Throws Error when PETSc does not start.
  explicit PetscSession(const std::vector<std::string>& options = {});
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;
  ~PetscSession();

 private:
  bool first_ = false;
  int exceptions_ = 0;  ///< exceptions in flight at construction
};

/// Initialises PETSc unless it is. Throws Error when there is no PetscSession, or PETSc does not start. Collective over
/// all ranks.
void begin_petsc();
/// Sets or removes one option: ("-pressure_pc_type", "gamg"). Throws Error when PETSc refuses.
void set_petsc_option(const std::string& name, const std::string& value);
void clear_petsc_option(const std::string& name);
/// The names of those of these options that have not been used yet: misspelt, or of another method. Not collective.
std::vector<std::string> unused_petsc_options(const std::vector<std::string>& names);

}  // namespace karst

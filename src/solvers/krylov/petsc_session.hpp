// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace karst {

/// PETSc is initialised during the lifetime of this object; MPI must be running before and after. Several objects may
/// exist at once: the first one initialises PETSc, and its destructor finalises it, unless an exception is in flight,
/// because other ranks may then not take part. All solver objects must have been destroyed by then. Construction and
/// destruction are collective over all ranks.
class PetscSession {
 public:
  /// @param options  as on a command line: {"-pressure_pc_type", "gamg"}
  /// Throws Error when PETSc does not start.
  explicit PetscSession(const std::vector<std::string>& options = {});
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;
  ~PetscSession();

 private:
  bool mine_ = false;
  int exceptions_ = 0;  ///< exceptions in flight at construction
};

/// Sets or removes one option: ("-pressure_pc_type", "gamg"). Throws Error when PETSc does not run.
void set_petsc_option(const std::string& name, const std::string& value);
void clear_petsc_option(const std::string& name);
/// The names of those of these options that have not been used yet: misspelt, or of another method. Not collective.
std::vector<std::string> unused_petsc_options(const std::vector<std::string>& names);

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace karst {

/// PETSc runs while it lives; MPI must run before and after. Several may live at once: the first starts PETSc, its
/// destructor ends it, unless an exception flies: other ranks may not come then. All solver objects must be gone by
/// then. Starting and ending are collective over all ranks.
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
  int exceptions_ = 0;  ///< flying when it began
};

/// Sets or removes one option: ("-pressure_pc_type", "gamg"). Throws Error when PETSc does not run.
void set_petsc_option(const std::string& name, const std::string& value);
void clear_petsc_option(const std::string& name);
/// Of these options, by name, those that nothing has asked for yet: misspelt, or of another method. Not collective.
std::vector<std::string> unused_petsc_options(const std::vector<std::string>& names);

}  // namespace karst

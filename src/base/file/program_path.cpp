// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/program_path.hpp"

#include <cerrno>  // program_invocation_name
#include <cstdlib>
#include <string>

namespace karst {

namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code unknown;  // where there is no /proc
  const fs::path file = fs::read_symlink("/proc/self/exe", unknown);
  return file.filename().string().starts_with("ld-linux") ? fs::path(program_invocation_name) : file;
}

fs::path faster_program() {
#if defined(__x86_64__) && !defined(__AVX2__)
  const fs::path program = program_path();
  fs::path faster = program.parent_path().parent_path() / "libexec" / program.filename();
  faster += "-x86-64-v3";
  std::error_code unknown;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
      fs::exists(faster, unknown))
    return faster;
#endif
  return {};
}

fs::path own_mpi() {
  std::error_code unknown;
  const fs::path folder = program_path().parent_path().parent_path() / "mpi";
  return fs::exists(folder / "plugins", unknown) ? folder : fs::path();
}

std::string python_program() {
  if (const char* chosen = std::getenv("KARST_PYTHON"); chosen != nullptr && *chosen != '\0') return chosen;
  std::error_code unknown;
  const fs::path of_clone = program_path().parent_path().parent_path().parent_path() / ".venv/bin/python";
  return fs::exists(of_clone, unknown) ? of_clone.string() : "python3";
}

}  // namespace karst

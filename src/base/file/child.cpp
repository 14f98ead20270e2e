// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/core/error.hpp"
#include "base/file/plain_file.hpp"

namespace karst {

namespace {

/// As NAME=VALUE texts. What setenv() has changed since the start is not among them.
std::vector<std::string> environment_at_start() {
  std::ifstream in("/proc/self/environ", std::ios::binary);
  std::vector<std::string> all;
  for (std::string one; std::getline(in, one, '\0');) all.push_back(one);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::string& output) {
  const int file = output.empty() ? -1 : open_plain_file(output, false, output);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    if (file >= 0) posix_spawn_file_actions_adddup2(&actions, file, stream);
  std::vector<std::string> words = command, environment = environment_at_start();
  const int problem = posix_spawnp(&process_, words[0].c_str(), &actions, nullptr, pointers(words).data(),
                                   pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (file >= 0) ::close(file);
  if (problem != 0) process_ = -1;
  require(problem == 0, "{}: cannot be started: {}", command[0], std::strerror(problem));
}

Child::Child(Child&& other) noexcept : process_(std::exchange(other.process_, -1)), status_(other.status_) {}

Child::~Child() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::optional<int> Child::status() { return ended(WNOHANG) ? std::optional<int>(status_) : std::nullopt; }

int Child::wait() {
  while (!ended(0)) continue;  // a signal may come first
  return status_;
}

bool Child::ended(int options) {
  if (process_ < 0) return true;
  int how = 0;
  if (::waitpid(process_, &how, options) != process_) return false;
  process_ = -1;
  constexpr int killed = 128;
  status_ = WIFEXITED(how) ? WEXITSTATUS(how) : killed + WTERMSIG(how);
  return true;
}

void Child::ask_to_end() const {
  if (process_ >= 0) ::kill(process_, SIGTERM);
}

}  // namespace karst

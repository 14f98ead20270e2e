// SPDX-License-Identifier: BSD-3-Clause
// Damages images of every format and reads them: karst-damage-images [COUNT [FORMAT [SEED [FOLDER]]]]
// COUNT files of each format (300). A file has to be refused with a message, or give the image that it held. What
// differs is told from what nobody could notice: voxels that were changed themselves where nothing checks them, and
// headers that are as valid as before and read the same bytes of voxels in another shape, type or order. All else is a
// failure: a crash, more than 2 s, more than 1 GiB, another exception, other voxels. The files that fail are kept in
// FOLDER.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>

#include "base/core/error.hpp"
#include "geometry_import/read/readers.hpp"
#include "tests/damage/damage.hpp"

namespace karst::test {
namespace {

namespace fs = std::filesystem;

enum Outcome : char { none, refused, same, edited, reread, silent, exception, memory, crash, hang, n_outcomes };
constexpr std::array<const char*, n_outcomes> names{"none",   "refused",   "same",   "voxels edited", "reread",
                                                    "SILENT", "EXCEPTION", "MEMORY", "CRASH",         "HANG"};

struct Read {
  ImageInfo info;
  std::vector<float> values;
};

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string path_of(const Sample& s, const std::string& folder) {
  return folder + "/" + (s.opened.empty() ? s.name : s.opened);
}

/// Throws std::bad_alloc for an image that no small file can hold.
Read read(const std::string& path, const Sample& s) {
  const auto image = open_image(path, s.layout);
  Read r{image->info(), {}};
  const Index n = r.info.size;
  if (double{1} * n[0] * n[1] * n[2] > 1e7) throw std::bad_alloc();
  const std::size_t plane = static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]);
  r.values.resize(plane * static_cast<std::size_t>(n[2]));
  for (int z = 0; z < n[2]; ++z)
    image->read_plane(z, std::span(r.values).subspan(static_cast<std::size_t>(z) * plane, plane));
  return r;
}

/// The bytes as voxels of a type.
std::vector<float> as_values(std::string bytes, VoxelType type, bool big_endian) {
  to_native(bytes, type, big_endian);
  std::vector<float> values(bytes.size() / static_cast<std::size_t>(bytes_of(type)));
  to_float(bytes.data(), type, values);
  return values;
}

/// Bytes that the voxels may be after damage: as before; those at the old places; those as far from the end of the file
/// as before (what was removed in front of them, or in them, was made up for by something else).
std::vector<std::string> voxels_in(const std::string& bytes, const Sample& s) {
  std::vector<std::string> all{s.voxels};
  if (s.storage != Storage::plain || s.where.empty()) return all;
  const auto at = [&](std::size_t shift) {
    std::string voxels;
    for (const auto& [first, last] : s.where)
      if (last + shift <= bytes.size()) voxels += bytes.substr(first + shift, last - first);
    if (voxels.size() == s.voxels.size()) all.push_back(voxels);
  };
  at(0);
  at(bytes.size() - s.bytes.size());  // modulo 2^64, as the sums above
  return all;
}

/// True when all values are slope · expected + intercept: a header of NIfTI or MetaImage that scales.
bool scaled(const std::vector<float>& values, const std::vector<float>& expected) {
  if (values.size() != expected.size()) return false;
  const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
  const auto a = static_cast<std::size_t>(low - expected.begin()),
             b = static_cast<std::size_t>(high - expected.begin());
  const double slope = (double{values[b]} - double{values[a]}) / (double{expected[b]} - double{expected[a]}),
               size = std::max(std::abs(double{values[a]}), std::abs(double{values[b]}));
  for (std::size_t n = 0; n < values.size(); ++n)
    if (std::abs(double{values[a]} + slope * (double{expected[n]} - double{expected[a]}) - double{values[n]}) >
        1e-5 * size)
      return false;
  return true;
}

/// True when the letters of the voxels are not in the file as they were.
bool letters_changed(const std::string& bytes, const Sample& s) {
  const auto [first, last] = s.where.at(0);
  return bytes.find(s.bytes.substr(first, last - first)) == std::string::npos;
}

/// The same planes in another order, where a header lists a file for each.
bool planes_exchanged(const Read& r, const std::vector<float>& expected) {
  const std::size_t plane = expected.size() / static_cast<std::size_t>(sample_size[2]);
  const auto planes = [&](const std::vector<float>& v) {
    std::multiset<std::vector<float>> all;
    for (std::size_t at = 0; at + plane <= v.size(); at += plane)
      all.emplace(v.begin() + static_cast<std::ptrdiff_t>(at), v.begin() + static_cast<std::ptrdiff_t>(at + plane));
    return all;
  };
  return planes(r.values) == planes(expected);
}

Outcome judge(const Read& r, const Sample& s, const Damaged& d) {
  const std::vector<float> expected = as_values(s.voxels, s.type, s.big_endian);
  const bool alike = r.info.size == sample_size && r.info.type == s.type;
  if (alike && r.values == expected) return same;
  if (r.info.size == sample_size && r.values == expected) return reread;  // text, read as another type
  if (alike && s.storage == Storage::packed) return edited;
  if (alike && s.storage == Storage::letters && letters_changed(d.bytes, s)) return edited;
  if (alike && s.beside.size() > 1 && planes_exchanged(r, expected)) return reread;
  for (const std::string& voxels : voxels_in(d.bytes, s)) {
    if (alike && r.values == as_values(voxels, s.type, s.big_endian)) return edited;
    const bool whole = r.values.size() * static_cast<std::size_t>(bytes_of(r.info.type)) == voxels.size();
    for (const bool big : {false, true}) {
      if (whole && r.values == as_values(voxels, r.info.type, big)) return reread;
      if (r.info.type == VoxelType::float32 && scaled(r.values, as_values(voxels, s.type, big))) return reread;
    }
  }
  return silent;
}

struct Shared {
  std::size_t current;
  std::array<char, 200000> outcome;
};

Outcome attempt(const Sample& s, const Damaged& d, const std::string& folder, bool tell) {
  write(folder + "/" + s.name, d.bytes);
  try {
    const Read r = read(path_of(s, folder), s);
    const Outcome outcome = judge(r, s, d);
    if (tell)
      fmt::print("    read: {} x {} x {} {}\n", r.info.size[0], r.info.size[1], r.info.size[2], name_of(r.info.type));
    return outcome;
  } catch (const Error& e) {
    if (tell) fmt::print("    {}\n", e.what());
    return refused;
  } catch (const std::bad_alloc&) {
    return memory;
  } catch (const std::exception& e) {
    fmt::print("    {}\n", e.what());
    return exception;
  }
}

/// What a reader is given: 2 s and 1 GiB.
void limit() {
  const rlimit bytes{1u << 30, 1u << 30}, no_core{0, 0};
  setrlimit(RLIMIT_DATA, &bytes);
  setrlimit(RLIMIT_CORE, &no_core);
}

struct Campaign {
  std::vector<Sample> all;
  std::string format, work, keep;
  std::size_t count = 300, seed = 1;

  std::vector<const Sample*> chosen() const {
    std::vector<const Sample*> some;
    for (const Sample& s : all)
      if (s.format == format) some.push_back(&s);
    return some;
  }
};

/// Reads the files from the n-th on, in a process of its own.
void work(const Campaign& c, const std::vector<const Sample*>& some, Shared& shared, std::size_t n) {
  limit();
  for (; n < c.count; ++n) {
    shared.current = n;
    const itimerval two_seconds{{0, 0}, {2, 0}};
    setitimer(ITIMER_REAL, &two_seconds, nullptr);
    const Sample& s = *some[n % some.size()];
    shared.outcome[n] = attempt(s, damage(s, c.seed + n), c.work, false);
  }
  _exit(0);
}

/// Runs the campaign on one format; the number of failures.
std::size_t run(const Campaign& c, Shared& shared) {
  const std::vector<const Sample*> some = c.chosen();
  for (const Sample* s : some) {
    for (const auto& [name, bytes] : s->beside) write(c.work + "/" + name, bytes);
    const Outcome whole = attempt(*s, {s->bytes}, c.work, false);
    require(whole == same, "{} {}: the undamaged sample is {}", s->format, s->name, names[whole]);
  }
  std::fill(shared.outcome.begin(), shared.outcome.end(), none);
  std::fflush(stdout);
  for (std::size_t n = 0; n < c.count; n = shared.current + 1) {
    shared.current = n;
    const pid_t child = fork();
    if (child == 0) work(c, some, shared, n);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    shared.outcome[shared.current] = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? hang : crash;
  }
  std::array<std::size_t, n_outcomes> found{};
  for (std::size_t n = 0; n < c.count; ++n) {
    const std::size_t outcome = shared.outcome[n];  // NOLINT(bugprone-signed-char-misuse): >= 0
    ++found[outcome];
    if (outcome != none && outcome < silent) continue;
    const Sample& s = *some[n % some.size()];
    fmt::print("  {}: file {} of {}, from {}\n", names[outcome], n, c.format, s.name);
    if (c.keep.empty()) continue;
    write(fmt::format("{}/{}_{}_{}", c.keep, names[outcome], n, s.name), damage(s, c.seed + n).bytes);
    write(fmt::format("{}/whole_{}", c.keep, s.name), s.bytes);
    if (outcome == silent) attempt(s, damage(s, c.seed + n), c.work, true);
  }
  fmt::print("{:<10} {:>6} damaged: {} refused, {} the same image, {} with voxels changed themselves, {} reread",
             c.format, c.count, found[refused], found[same], found[edited], found[reread]);
  std::size_t failures = found[none];
  for (std::size_t o = silent; o < n_outcomes; ++o) {
    failures += found[o];
    if (found[o] > 0) fmt::print(", {} {}", found[o], names[o]);
  }
  fmt::print("\n");
  return failures;
}

int run_all(int argc, char** argv) {
  Campaign c;
  if (argc > 1) c.count = static_cast<std::size_t>(std::strtoull(argv[1], nullptr, 10));
  const std::string only = argc > 2 ? argv[2] : "all";
  if (argc > 3) c.seed = static_cast<std::size_t>(std::strtoull(argv[3], nullptr, 10));
  if (argc > 4) c.keep = argv[4];
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  require(shared != MAP_FAILED && c.count > 0 && c.count <= shared->outcome.size(), "COUNT is {}; 1 to {} are allowed",
          c.count, std::tuple_size_v<decltype(Shared::outcome)>);
  std::string work = (fs::temp_directory_path() / "karst_damage_XXXXXX").string();
  require(mkdtemp(work.data()) != nullptr, "{}: cannot be made ({})", work, std::strerror(errno));
  c.work = work;
  c.all = samples(c.work);
  std::size_t failures = 0;
  std::set<std::string> done;
  for (const Sample& s : c.all) {
    if ((only != "all" && only != s.format) || !done.insert(s.format).second) continue;
    c.format = s.format;
    failures += run(c, *shared);
  }
  fs::remove_all(c.work);
  require(!done.empty(), "there is no format {}", only);
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace karst::test

int main(int argc, char** argv) {
  try {
    return karst::test::run_all(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}

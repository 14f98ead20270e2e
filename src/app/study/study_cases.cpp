// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <tuple>

#include "app/deck/config.hpp"
#include "app/deck/image_sample.hpp"
#include "app/study/study.hpp"
#include "base/core/error.hpp"
#include "base/deck/deck_echo.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_cases = 10'000;
constexpr double largest_part = 1e6;  // [voxels]

/// One way in which cases differ: its headings, and for each of its settings what it adds to a case.
struct Choice {
  std::vector<std::string> headings;
  std::vector<StudyCase> settings;
};

/// Files that a name with * and ? stands for, sorted; the name itself without them.
std::vector<std::string> files_of(const std::string& folder, const std::string& name) {
  const std::string path = (fs::path(folder) / name).string();
  if (name.find_first_of("*?") == std::string::npos) return {path};
  glob_t found{};
  const int problem = ::glob(path.c_str(), 0, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (problem == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  require(!files.empty(), "images: no file matches {}", path);
  return files;
}

/// The last parts of a path, so many of them; all where it has fewer.
std::string end_of_path(const fs::path& path, std::ptrdiff_t parts) {
  fs::path end;
  auto at = path.end();
  for (; parts > 0 && at != path.begin(); --parts) --at;
  for (; at != path.end(); ++at) end /= *at;
  return end.string();
}

/// Names of files: as many of the last parts of their paths as tell them from all others.
std::vector<std::string> distinct_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) {
    const fs::path path(file);
    const std::ptrdiff_t all = std::distance(path.begin(), path.end());
    std::ptrdiff_t parts = 1;
    const auto is_like = [&](const std::string& other) {
      return other != file && end_of_path(other, parts) == end_of_path(path, parts);
    };
    while (parts < all && std::ranges::any_of(files, is_like)) ++parts;
    names.push_back(end_of_path(path, parts));
  }
  return names;
}

Choice choice_of_images(const StudyOptions& options, const std::string& folder) {
  Choice choice{{"image"}, {}};
  std::vector<std::string> files;
  for (const std::string& name : options.images)
    for (const std::string& file : files_of(folder, name))
      files.push_back(fs::absolute(file).lexically_normal().string());
  const std::vector<std::string> names = distinct_names(files);
  for (std::size_t i = 0; i < files.size(); ++i)
    choice.settings.push_back(
        {.values = {names[i]}, .overrides = {fmt::format("geometry.image={}", toml_text(files[i]))}});
  return choice;
}

/// Why parts are not as asked; empty where they are.
std::string note_on(const ImageParts& parts, int asked, int edge, const Index& size) {
  const auto n = std::ssize(parts.low);
  std::string note;
  if (n < asked)
    note = fmt::format("an image of {} x {} x {} voxels has only {} different cube{} of {} instead of {}", size[0],
                       size[1], size[2], n, n == 1 ? "" : "s", edge, asked);
  if (parts.overlap > 0.0)
    note += fmt::format(
        "{}{} cubes of {} voxels do not fit into {} x {} x {} without overlap (there is room for {}): two of them "
        "share up to {:.0f} % of their volume, so their results differ less than those of separate samples",
        note.empty() ? "" : "; ", n, edge, size[0], size[1], size[2],
        std::int64_t{size[0] / edge} * (size[1] / edge) * (size[2] / edge), 100.0 * parts.overlap);
  return note.empty() ? "" : "subvolumes: " + note;
}

/// Parts of the image of a deck.
/// @param[in,out] notes  what of them is not as asked
Choice choice_of_parts(const StudyOptions& options, const std::string& deck, const std::vector<std::string>& overrides,
                       std::vector<std::string>& notes) {
  Reader in = Reader::from_file(deck, overrides);
  const Config config = read_config(in);
  in.finish();
  require(needs_import(config),
          "subvolumes: sub-volumes are cut out of an image that each run imports; the deck {} has {}: give the image "
          "itself as geometry.image",
          deck, config.geometry.image.empty() ? "no image" : "the geometry file " + config.geometry.image);
  const ImageExtent image = image_extent(config);
  Choice choice{{size_heading, place_heading}, {}};
  for (const double size : options.sizes) {
    const int edge = static_cast<int>(size);
    require(edge == size && std::ranges::all_of(image.size.v, [&](int n) { return n >= edge; }),
            "subvolumes.sizes: {} voxels; expected: whole numbers up to the smallest edge of the image, {} x {} x {}",
            size, image.size[0], image.size[1], image.size[2]);
    const ImageParts parts = parts_of_image(image.size, edge, options.places);
    if (const std::string note = note_on(parts, options.places, edge, image.size);
        !note.empty() && std::ranges::count(notes, note) == 0)
      notes.push_back(note);
    for (std::size_t i = 0; i < parts.low.size(); ++i) {
      const Index low = image.low + parts.low[i];
      choice.settings.push_back(
          {.values = {fmt::format("{}", edge), fmt::format("{}", i + 1)},
           .overrides = {
               fmt::format("geometry.import.crop_low=[{},{},{}]", low[0], low[1], low[2]),
               fmt::format("geometry.import.crop_high=[{},{},{}]", low[0] + edge, low[1] + edge, low[2] + edge)}});
    }
  }
  return choice;
}

/// n copies dealt out over the periodic directions of a deck, the shortest first. Throws Error where there are none.
Index copies_of(const std::string& deck, const std::vector<std::string>& overrides, int n) {
  Reader in = Reader::from_file(deck, overrides);
  const Config config = read_config(in);
  const std::array<bool, 3>& periodic = config.grid.periodic;
  require(n == 1 || periodic[0] || periodic[1] || periodic[2],
          "scaling.weak: the deck {} has no periodic direction along which its sample could be repeated", deck);
  Index copies{1, 1, 1};
  for (int factor = 2; n > 1; ++factor)
    for (; n % factor == 0; n /= factor) {
      int shortest = -1;
      for (int d = 0; d < 3; ++d)
        if (periodic[d] && (shortest < 0 || copies[d] < copies[shortest])) shortest = d;
      copies[shortest] *= factor;
    }
  return copies;
}

/// Every number of ranks with every number of threads.
Choice choice_of_cores(const StudyOptions& options, const std::string& deck,
                       const std::vector<std::string>& overrides) {
  Choice choice;
  if (!options.ranks.empty()) choice.headings.emplace_back(ranks_heading);
  if (!options.threads.empty()) choice.headings.emplace_back(threads_heading);
  if (!options.bind.empty()) choice.headings.emplace_back(bind_heading);
  const std::vector<double> as_is{0.0};
  for (const double ranks : options.ranks.empty() ? as_is : options.ranks)
    for (const double threads : options.threads.empty() ? as_is : options.threads)
      for (const std::string& bind : options.bind.empty() ? std::vector<std::string>{""} : options.bind) {
        StudyCase& s = choice.settings.emplace_back();
        s.ranks = static_cast<int>(ranks);
        s.threads = static_cast<int>(threads);
        s.bind = bind;
        for (const double n : {ranks, threads})
          if (n > 0.0) s.values.push_back(fmt::format("{}", n));
        if (!bind.empty()) s.values.push_back(bind);
      }
  if (!options.weak) return choice;
  const auto cores = [](const StudyCase& s) { return std::max(s.ranks, 1) * std::max(s.threads, 1); };
  const int least = cores(*std::ranges::min_element(choice.settings, {}, cores));
  choice.headings.emplace_back(copies_heading);
  for (StudyCase& s : choice.settings) {
    require(cores(s) % least == 0,
            "scaling.weak: {} cores is not a multiple of {}, the smallest number; expected: multiples of it", cores(s),
            least);
    s.copies = cores(s) / least;
    const Index n = copies_of(deck, overrides, s.copies);
    s.values.push_back(fmt::format("{}x{}x{}", n[0], n[1], n[2]));
    s.overrides.push_back(fmt::format("geometry.copies=[{},{},{}]", n[0], n[1], n[2]));
  }
  return choice;
}

Choice choice_of(const StudyVary& vary) {
  const bool is_key = !vary.key.empty();
  const std::string& what = is_key ? vary.key : vary.environment;
  Choice choice{{vary.name.empty() ? what : vary.name}, {}};
  for (const std::string& value : vary.values) {
    StudyCase& s = choice.settings.emplace_back();
    s.values = {value};
    (is_key ? s.overrides : s.environment).push_back(fmt::format("{}={}", what, value));
  }
  return choice;
}

bool is_variable(const std::string& name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

/// [scaling]
void read_scaling(Reader& in, StudyOptions& options) {
  for (const auto& [key, list, what] :
       {std::tuple{"scaling.ranks", &options.ranks, "numbers of ranks of the runs: each number is a case"},
        std::tuple{"scaling.threads", &options.threads,
                   "numbers of threads of each rank, combined with every number of ranks"}}) {
    in.numbers(key, *list, "-", what, 1.0, 1e6);
    if (std::ranges::any_of(*list, [](double n) { return n != std::floor(n); }))
      in.mistake(key, "expected: whole numbers");
  }
  in.texts("scaling.bind", options.bind,
           "what ranks are bound to: \"none\", \"core\" (each to as many cores as it has threads), \"numa\", "
           "\"socket\"; each is a case; default: no binding, with SLURM cores");
  in.flag("scaling.weak", options.weak,
          "weak scaling: the work grows with the cores; a case with twice the smallest number of cores has two copies "
          "of the sample (geometry.copies), which must give the same results");
  in.text("scaling.of", options.scaling_of,
          "the column whose speed-up and efficiency are reported, a time of summary.json, relative to the case with "
          "the fewest cores");
  for (const std::string& bind : options.bind)
    if (constexpr std::array known{"none", "core", "numa", "socket"}; std::ranges::find(known, bind) == known.end())
      in.mistake("scaling.bind", "'{}' is unknown; expected: none, core, numa, socket", bind);
  if (options.ranks.empty() && options.threads.empty())
    in.refuse({"scaling.of", "scaling.weak", "scaling.bind"}, "given without scaling.ranks or scaling.threads");
}

}  // namespace

void read(Reader& in, StudyOptions& options) {
  in.text("title", options.title, "a line that describes the study");
  in.text("deck", options.deck, "the deck to run, relative to the study; required");
  in.text("directory", options.directory,
          "directory of the results, relative to the working directory; --out on the command line overrides it");
  in.texts("images", options.images,
           "images or geometry files instead of geometry.image, relative to the study; names may contain * and ?");
  in.texts("columns", options.columns,
           "columns of the table: numbers of summary.json by their path, such as permeability_m2[0][0]; default: "
           "porosity, permeability, formation factor, fluid cells, time and memory, as available");
  in.tables("vary", "a key of the deck and its values; all combinations are run", [&](Reader& item) {
    StudyVary vary;
    item.text("key", vary.key, "key of the deck, such as grid.cells; key or environment is required");
    item.text(
        "environment", vary.environment,
        "an environment variable instead of a key: OMP_WAIT_POLICY, MALLOC_ARENA_MAX, OMPI_MCA_btl_vader_eager_limit");
    item.values("values", vary.values, "list of its values; required");
    item.text("name", vary.name, "name in tables and charts; default: the key or variable");
    if (vary.key.empty() == vary.environment.empty())
      item.mistake("key", "expected: either a key of the deck or an environment variable");
    if (!vary.environment.empty() && !is_variable(vary.environment))
      item.mistake("environment", "'{}' is not the name of a variable", vary.environment);
    if (vary.values.empty()) item.mistake("values", "missing; expected: one value or more");
    const std::string what = vary.key + vary.environment;
    if (!what.empty() &&
        std::ranges::any_of(options.vary, [&](const StudyVary& v) { return v.key + v.environment == what; }))
      item.mistake(vary.key.empty() ? "environment" : "key", "'{}' is varied twice; put all its values in one list",
                   what);
    options.vary.push_back(vary);
  });
  in.numbers("subvolumes.sizes", options.sizes, "voxels",
             "edge lengths of cubes cut out of the image, to find the representative sample size", 1.0, largest_part);
  in.integer("subvolumes.places", options.places, "-",
             "number of cubes of each size, distributed evenly over the image, without overlap where possible; a "
             "single one is in the middle",
             1, 1000);
  read_scaling(in, options);
  if (options.deck.empty()) in.mistake("deck", "missing; expected: the file name of a deck");
  for (const std::string& column : options.columns)
    if (const std::string problem = column_problem(column); !problem.empty()) in.mistake("columns", problem);
  if (const std::string problem = column_problem(options.scaling_of); !problem.empty())
    in.mistake("scaling.of", problem);
  if (options.vary.empty() && options.images.empty() && options.sizes.empty() && options.ranks.empty() &&
      options.threads.empty())
    in.mistake("vary",
               "nothing is varied; expected: [[vary]] with key and values, images, [subvolumes] with sizes, or "
               "[scaling] with ranks or threads");
  if (options.sizes.empty()) in.refuse({"subvolumes.places"}, "given without subvolumes.sizes");
}

std::vector<KeyInfo> study_keys() {
  Reader in = Reader::declarations_only();
  StudyOptions options;
  read(in, options);
  return in.keys();
}

Study make_study(const StudyOptions& options, const std::string& folder, const std::vector<std::string>& overrides) {
  Study study{options.title, (fs::path(folder) / options.deck).lexically_normal().string(), {}, {}};
  std::vector<Choice> choices;
  if (!options.images.empty()) choices.push_back(choice_of_images(options, folder));
  for (const StudyVary& vary : options.vary) choices.push_back(choice_of(vary));
  if (!options.ranks.empty() || !options.threads.empty())
    choices.push_back(choice_of_cores(options, study.deck, overrides));
  study.cases.resize(1);
  study.cases[0].overrides = overrides;
  const auto combine = [&](const auto& choice_here) {
    std::vector<StudyCase> all;
    for (const StudyCase& before : study.cases)
      for (const StudyCase& s : choice_here(before).settings) {
        StudyCase& now = all.emplace_back(before);
        now.values.insert(now.values.end(), s.values.begin(), s.values.end());
        now.overrides.insert(now.overrides.end(), s.overrides.begin(), s.overrides.end());
        now.environment.insert(now.environment.end(), s.environment.begin(), s.environment.end());
        if (!s.bind.empty()) now.bind = s.bind;
        now.ranks = std::max(now.ranks, s.ranks);
        now.threads = std::max(now.threads, s.threads);
        now.copies *= s.copies;
        require(all.size() <= most_cases, "the study has more than {} cases; expected: fewer values", most_cases);
      }
    study.cases = std::move(all);
  };
  for (const Choice& choice : choices) {
    study.varied.insert(study.varied.end(), choice.headings.begin(), choice.headings.end());
    combine([&](const StudyCase&) -> const Choice& { return choice; });
  }
  if (!options.sizes.empty()) {  // each image has parts of its own
    study.varied.insert(study.varied.end(), {size_heading, place_heading});
    combine(
        [&](const StudyCase& before) { return choice_of_parts(options, study.deck, before.overrides, study.notes); });
  }
  for (std::size_t i = 0; i < study.cases.size(); ++i) study.cases[i].name = fmt::format("case_{:03}", i + 1);
  return study;
}

namespace {

/// The i-th number of the sequence of van der Corput in a base: fills [0, 1) evenly however many are taken.
double van_der_corput(int i, int base) {
  double x = 0.0;
  for (double digit = 1.0 / base; i > 0; i /= base, digit /= base) x += digit * (i % base);
  return x;
}

std::int64_t places_of(const Index& lattice) { return std::int64_t{lattice[0]} * lattice[1] * lattice[2]; }

/// Places along each direction, n or more in all where the image has as many.
Index lattice_for(const Index& size, int edge, int n) {
  if (n == 1) return Index::all(1);
  Index lattice;
  for (int d = 0; d < 3; ++d) lattice[d] = size[d] / edge;
  while (places_of(lattice) < n) {
    int widest = -1;
    const auto spacing = [&](int d) { return static_cast<double>(size[d] - edge) / lattice[d]; };  // with one more
    for (int d = 0; d < 3; ++d)
      if (lattice[d] <= size[d] - edge && (widest < 0 || spacing(d) > spacing(widest))) widest = d;
    if (widest < 0) break;
    ++lattice[widest];
  }
  return lattice;
}

Index corner_of(const Index& size, int edge, const Index& lattice, const Index& place) {
  Index low;
  for (int d = 0; d < 3; ++d) {
    const double part = lattice[d] > 1 ? static_cast<double>(place[d]) / (lattice[d] - 1) : 0.5;
    low[d] = static_cast<int>(std::lround(part * (size[d] - edge)));
  }
  return low;
}

/// Part of a cube that another one shares.
double shared(const Index& a, const Index& b, int edge) {
  double part = 1.0;
  for (int d = 0; d < 3; ++d) part *= std::max(0.0, 1.0 - static_cast<double>(std::abs(a[d] - b[d])) / edge);
  return part;
}

}  // namespace

ImageParts parts_of_image(const Index& size, int edge, int n) {
  constexpr std::array bases{2, 3, 5};
  const Index lattice = lattice_for(size, edge, n);
  const std::int64_t wanted = std::min<std::int64_t>(n, places_of(lattice));
  ImageParts parts;
  std::set<std::array<int, 3>> seen;
  for (int i = 1; std::ssize(parts.low) < wanted; ++i) {  // the points come to every place
    Index place;
    for (int d = 0; d < 3; ++d) place[d] = static_cast<int>(van_der_corput(i, bases[d]) * lattice[d]);
    if (seen.insert(place.v).second) parts.low.push_back(corner_of(size, edge, lattice, place));
  }
  for (std::size_t a = 0; a < parts.low.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      parts.overlap = std::max(parts.overlap, shared(parts.low[a], parts.low[b], edge));
  return parts;
}

}  // namespace karst

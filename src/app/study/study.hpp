// SPDX-License-Identifier: BSD-3-Clause
// A study: one deck, run again and again with other values, images or parts of an image.
//
//   deck = "rock.toml"
//   [[vary]]                            every combination of the values is a case
//   key = "grid.cells"
//   values = [[32, 32, 32], [48, 48, 48]]
//   [subvolumes]                        parts of the image: how large must a sample be?
//   sizes = [32, 64]                    edges [voxels]
//   places = 4                          of each size
//   [[vary]]
//   environment = "OMP_WAIT_POLICY"     variables of the environment likewise
//   values = ["active", "passive"]
//   [scaling]                           how much faster with more cores?
//   ranks = [1, 2, 4]
//   threads = [1, 2]                    of each rank
//   bind = ["none", "core"]             what ranks are bound to
//   weak = true                         as many copies of the sample as cores
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "base/math/triple.hpp"

namespace karst {

class Json;

struct StudyVary {
  std::string key;                  ///< of the deck; empty: `environment` varies
  std::vector<std::string> values;  ///< as TOML, texts without quotes
  std::string name;                 ///< in tables and charts; default: what varies
  std::string environment{};        ///< name of a variable
};

struct StudyOptions {
  std::string title, deck, directory = "out/study";
  std::vector<StudyVary> vary;
  std::vector<std::string> images;           ///< files or patterns; each is geometry.image of cases
  std::vector<double> sizes;                 ///< of parts of the image [voxels]
  int places = 1;                            ///< parts of each size
  std::vector<double> ranks, threads;        ///< of runs; empty: what the command line says
  std::vector<std::string> bind;             ///< CaseRun::bind; empty: as without [scaling]
  bool weak = false;                         ///< more cores have more copies of the sample
  std::string scaling_of = "seconds.total";  ///< the time whose speed-up is told
  std::vector<std::string> columns;          ///< of the table: places in summary.json; empty: those that there are
};
/// Declares and reads all keys of a study.
void read(Reader& in, StudyOptions& options);
/// All keys of a study, in order.
std::vector<KeyInfo> study_keys();

/// One run.
struct StudyCase {
  std::string name{};                      ///< "case_001"
  std::vector<std::string> values{};       ///< to be shown, one per Study::varied
  std::vector<std::string> overrides{};    ///< key=value
  int ranks = 0, threads = 0;              ///< 0: what the command line says
  int copies = 1;                          ///< of the sample, of weak scaling
  std::vector<std::string> environment{};  ///< NAME=VALUE
  std::string bind{};                      ///< CaseRun::bind
};

struct Study {
  std::string title, deck;
  std::vector<std::string> varied;  ///< headings of what differs between the cases
  std::vector<StudyCase> cases;
  std::vector<std::string> notes{};  ///< what is not as asked, for people
};

/// Headings of columns of parts of an image. The second numbers those of one size: it is no parameter.
inline constexpr const char *size_heading = "size [voxels]", *place_heading = "place";
/// Of ranks and threads, and of what comes of them.
inline constexpr const char *ranks_heading = "ranks", *threads_heading = "threads", *bind_heading = "bound to",
                            *copies_heading = "copies", *speed_up = "speed-up", *efficiency = "efficiency";

/// All cases of a study. Throws Error: nothing varies, no such image, parts larger than it, too many cases. Reads the
/// headers of images that parts are taken of. Not collective.
/// @param folder     of the study's file: file names are relative to it
/// @param overrides  of all cases
Study make_study(const StudyOptions& options, const std::string& folder, const std::vector<std::string>& overrides);

/// A case that has been dealt with.
struct StudyRow {
  std::string status;                ///< completed, failed, interrupted, not run
  std::string reason;                ///< why it has no results
  std::map<std::string, double> of;  ///< by column; NaN where there is none
  std::string remark{};              ///< what to know of its results, remark_on()
};

/// Cases and what came out, as a table.
struct StudyTable {
  Study study;
  std::vector<std::string> columns;
  std::vector<StudyRow> rows;  ///< one per case
};

/// What is wrong with a place in summary.json: a word that no summary has, with the nearest one; empty where nothing
/// is.
std::string column_problem(const std::string& column);
/// Columns that no completed case has, with the nearest place that one has. Not collective.
std::vector<std::string> empty_columns(const std::vector<std::string>& columns, const std::vector<Json>& summaries);
/// "no path along x": where jobs ask for an axis along which no pore leads, so that what they compute is 0;
/// "no wall along x": where nothing holds the fluid, and the permeability is infinite. Empty elsewhere.
/// @param axes  0, 1, 2
std::string remark_on(const Json& summary, const std::vector<int>& axes);

/// Those that are asked for, or what a first look wants of what the summaries hold.
std::vector<std::string> columns_of(const std::vector<std::string>& asked, const std::vector<Json>& summaries);
/// What a column holds, for people.
struct ColumnWords {
  std::string title, unit;  ///< unit: empty where none is known
};
ColumnWords words_of(const std::string& column);
/// "a[0].b" -> a, 0, b
std::vector<std::string> parts_of_place(std::string place);
/// The number at a place in a summary, "permeability_m2[0][0]"; NaN where there is none.
double number_at(const Json& summary, const std::string& place);

/// Columns of a study with [scaling]: how many times as fast, per copy of the sample, a case is as the one of the
/// fewest cores (ranks x threads) whose other values are the same, and that over the cores in place of one; NaN where
/// either has not ended.
/// @param time  column that is compared
void add_scaling(StudyTable& table, const std::string& time);

/// What varies, then the columns: their headings, and the cells of a case.
std::vector<std::string> headings_of(const StudyTable& table);
/// @param number  text of a number, which may be NaN
std::vector<std::string> cells_of(const StudyTable& table, std::size_t row,
                                  const std::function<std::string(double)>& number);
/// Any case has one.
bool has_remarks(const StudyTable& table);

/// study.csv, study.json, a table for the terminal, and study.html with charts over what varies.
std::string study_csv(const StudyTable& table);
std::string study_json(const StudyTable& table);
std::string study_text(const StudyTable& table);
std::string study_page(const StudyTable& table);

/// A value as a number: "0.5", the first of "32x32x32" and "[32, 32, 32]", that of "5.3 um"; NaN for what is none.
double number_of(const std::string& value);

/// Cubes of one edge.
struct ImageParts {
  std::vector<Index> low;  ///< corner of each [voxels]
  double overlap = 0.0;    ///< largest part of a cube that another one shares; 0 while there is room
};

/// n cubes spread evenly over an image: places of a lattice from end to end, in the order in which Halton's points
/// (Numer. Math. 2 (1960) 84) come to them. The lattice is the largest without overlap; where it has fewer than n
/// places it gets more, direction by direction where neighbours share least. One cube alone is in the middle. Fewer
/// than n where the image does not have as many different ones. Not collective.
/// @param size  of the image [voxels]
/// @param edge  of the cubes, at most the smallest edge of the image
ImageParts parts_of_image(const Index& size, int edge, int n);

}  // namespace karst

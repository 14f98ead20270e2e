// SPDX-License-Identifier: BSD-3-Clause
// Files that a job in time goes on writing: histories, a line per step, and plotfiles at output times with a list of
// them and their times, which ParaView opens as one. A state that is kept for --resume has the histories in it and
// copies of the plotfiles beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/job/job.hpp"

namespace karst {

struct FilesInTime {
  /// A file of the past.
  struct Output {
    std::string name;
    double time = 0.0;                       ///< [s]
    std::vector<std::uint32_t> checksums{};  ///< of the copies of it and its parts, once there are; rank 0
  };
  /// Files of one kind that ParaView opens as one.
  struct Series {
    std::vector<Output> files;
    std::size_t kept = 0;  ///< so many of them have a copy
  };
  std::vector<std::string> histories;    ///< names
  std::vector<std::string> texts;        ///< of the histories, as of the last keep_files(); rank 0
  Series outputs;                        ///< plotfiles
  std::map<std::string, Series> slices;  ///< by the name of the slice
  /// Surfaces and geometry files of walls that move, by the name of their list.
  std::map<std::string, Series> of_walls;
};

/// "slice_NAME.vti.series"
std::string slice_series(const std::string& slice);

/// Writes the list of a series under its name. Nothing for an empty one. Collective.
void write_series(const JobContext& run, const std::string& name, const FilesInTime::Series& series);

/// Writes output_0001.vtkhdf, the next number each time, and the list of all so far, output.vtkhdf.series (file series
/// of ParaView, version 1.0). Where the run writes plotfiles. Collective.
void write_output(const JobContext& run, FilesInTime& files, double time, const std::vector<JobComponent>& fields);

/// Of a run that ends early: its last state as plot.vtkhdf, and the names of this and its outputs in ResultFiles::left.
/// Collective.
void leave_outputs(const JobContext& run, const FilesInTime& files, double time,
                   const std::vector<JobComponent>& fields);

/// The names of surfaces and geometry files of walls, and of their lists, in ResultFiles::left. Not collective.
void leave_wall_files(const JobContext& run, const FilesInTime& files);

/// What they are for, by name, in the results of a job that has come to its end: the plotfiles, also plot.vtkhdf at
/// this time, are one series. Collective.
void finish_files(const JobContext& run, const FilesInTime& files, double time, JobResult& result);

/// For a state that is kept: reads the histories, and copies plotfiles that have no copy yet. Where that fails, says so
/// and returns false. Collective.
/// @param flush  the histories; may throw Error
bool keep_files(const JobContext& run, std::string_view job, const std::function<void()>& flush, FilesInTime& files);

/// Puts histories and plotfiles of a kept state where the run writes. Throws Error on rank 0 alone: a copy is missing
/// or damaged. Not collective.
void bring_files(const JobContext& run, const FilesInTime& files);

/// As a JSON object, and back. The names of the histories must be the same, else Error.
Json files_json(const FilesInTime& files);
void take_files(const Json& json, FilesInTime& files);

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/files_in_time.hpp"

#include <fmt/format.h>

#include <optional>

#include "app/job/run_services.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/growing_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "base/file/plain_file.hpp"
#include "io/part_names.hpp"

namespace karst {

namespace {

constexpr const char *last_plot = "plot.vtkhdf", *series_name = "output.vtkhdf.series";

/// With the last plotfile of a run behind the outputs.
FilesInTime::Series with_last(FilesInTime::Series series, double time) {
  if (!series.files.empty()) series.files.push_back({last_plot, time});
  return series;
}

/// All series with the names of their lists.
std::vector<std::pair<std::string, const FilesInTime::Series*>> all_series(const FilesInTime& files) {
  std::vector<std::pair<std::string, const FilesInTime::Series*>> all{{series_name, &files.outputs}};
  for (const auto& [name, series] : files.slices) all.emplace_back(slice_series(name), &series);
  for (const auto& [name, series] : files.of_walls) all.emplace_back(name, &series);
  return all;
}

std::vector<FilesInTime::Series*> changed_series(FilesInTime& files) {
  std::vector<FilesInTime::Series*> all{&files.outputs};
  for (auto& [name, series] : files.slices) all.push_back(&series);
  for (auto& [name, series] : files.of_walls) all.push_back(&series);
  return all;
}

std::string text_of(const std::string& path) {
  const std::optional<std::string> text = plain_text(path);
  require(text.has_value(), "{}: cannot be read", path);
  return *text;
}

/// The lists of all slices. A run that goes on may write none any more, and the lists of before were left behind.
void write_slice_series(const JobContext& run, const FilesInTime& files) {
  for (const auto& [name, series] : files.slices) write_series(run, slice_series(name), series);
}

void leave_series(const std::string& name, const FilesInTime::Series& series, ResultFiles& results) {
  for (const FilesInTime::Output& o : series.files) results.left.push_back(o.name);
  if (!series.files.empty()) results.left.push_back(name);
}

}  // namespace

std::string slice_series(const std::string& slice) { return fmt::format("slice_{}.vti.series", slice); }

void write_series(const JobContext& run, const std::string& name, const FilesInTime::Series& series) {
  if (series.files.empty()) return;
  Json json{{"file-series-version", "1.0"}, {"files", Json::array()}};
  for (const FilesInTime::Output& o : series.files) json["files"].push_back(Json{{"name", o.name}, {"time", o.time}});
  run.services.files.write(run.comm, name, json.dump() + '\n');
}

void write_output(const JobContext& run, FilesInTime& files, double time, const std::vector<JobComponent>& fields) {
  std::vector<FilesInTime::Output>& all = files.outputs.files;
  all.push_back({fmt::format("output_{:04}.vtkhdf", all.size() + 1), time});
  run.services.files.plot(all.back().name, time, fields);
  write_series(run, series_name, files.outputs);
}

void leave_outputs(const JobContext& run, const FilesInTime& files, double time,
                   const std::vector<JobComponent>& fields) {
  ResultFiles& results = run.services.files;
  if (!results.plotted()) return;
  results.plot(last_plot, time, fields);
  write_series(run, series_name, with_last(files.outputs, time));
  write_slice_series(run, files);
  results.left.emplace_back(last_plot);
  for (const auto& [name, series] : all_series(files))
    if (!files.of_walls.contains(name)) leave_series(name, *series, results);
}

void leave_wall_files(const JobContext& run, const FilesInTime& files) {
  for (const auto& [name, series] : files.of_walls) leave_series(name, series, run.services.files);
}

void finish_files(const JobContext& run, const FilesInTime& files, double time, JobResult& result) {
  result.time = time;
  if (!files.outputs.files.empty()) {
    write_series(run, series_name, result.components.empty() ? files.outputs : with_last(files.outputs, time));
    result.files.push_back({"output_*.vtkhdf", "the fields at the output times of [time]"});
    result.files.push_back({series_name, "all of them with their times: open this file in ParaView"});
  }
  write_slice_series(run, files);
  for (const auto& [name, series] : files.slices)
    if (!series.files.empty())
      result.files.push_back({slice_series(name), "the slices of this name with their times, for ParaView"});
}

bool keep_files(const JobContext& run, std::string_view job, const std::function<void()>& flush,
                FilesInTime& files) try {
  fail_together(run.comm, flush);
  fail_together(run.comm, [&] {
    if (run.comm.rank() != 0) return;
    files.texts.clear();
    for (const std::string& name : files.histories) files.texts.push_back(text_of(run.services.files.path(name)));
    for (FilesInTime::Series* series : changed_series(files))
      for (; series->kept < series->files.size(); ++series->kept) {
        FilesInTime::Output& file = series->files[series->kept];
        const std::string path = run.services.files.path(file.name);
        file.checksums = {run.services.solved.keep_file(path)};
        for (const std::string& part : parts_beside(path))
          file.checksums.push_back(run.services.solved.keep_file(part));
      }
  });
  for (FilesInTime::Series* series : changed_series(files)) series->kept = series->files.size();
  return true;
} catch (const Error& e) {
  log_info("{}: the checkpoint for --resume was not written: {}", job, e.what());
  return false;
}

void bring_files(const JobContext& run, const FilesInTime& files) {
  if (run.comm.rank() != 0) return;
  require(files.texts.size() == files.histories.size(), "it has {} histories instead of {}", files.texts.size(),
          files.histories.size());
  for (const auto& [name, series] : all_series(files))
    for (const FilesInTime::Output& o : series->files)
      for (std::size_t part = 0; part < o.checksums.size(); ++part)
        run.services.solved.bring_file(
            run.services.files.path(part == 0 ? o.name : part_name(o.name, static_cast<int>(part))), o.checksums[part]);
  for (std::size_t i = 0; i < files.histories.size(); ++i) {
    const std::string path = run.services.files.path(files.histories[i]);
    GrowingFile file;
    file.open(path);
    file.append(files.texts.at(i));
    file.finish();
  }
}

Json files_json(const FilesInTime& files) {
  const auto json_of = [](const FilesInTime::Series& series) {
    Json list = Json::array();
    for (const FilesInTime::Output& o : series.files) {
      Json file = Json::array();
      file.push_back(o.name);
      file.push_back(o.time);
      for (const std::uint32_t c : o.checksums) file.push_back(std::int64_t{c});
      list.push_back(std::move(file));
    }
    return list;
  };
  Json json{{"histories", files.histories}, {"texts", files.texts}, {"outputs", json_of(files.outputs)}};
  json["slices"] = json["of_walls"] = Json::object();
  for (const auto& [name, series] : files.slices) json["slices"][name] = json_of(series);
  for (const auto& [name, series] : files.of_walls) json["of_walls"][name] = json_of(series);
  return json;
}

void take_files(const Json& json, FilesInTime& files) {
  const auto histories = json.at("histories").get<std::vector<std::string>>();
  require(histories == files.histories, "it has the files {} instead of {}", join(histories, ", "),
          join(files.histories, ", "));
  files.texts = json.at("texts").get<std::vector<std::string>>();
  const auto series_of = [](const Json& list) {
    FilesInTime::Series series;
    for (const Json& o : list) {
      series.files.push_back({o.at(0).get<std::string>(), o.at(1).get<double>()});
      for (std::size_t i = 2; i < o.size(); ++i)
        series.files.back().checksums.push_back(static_cast<std::uint32_t>(o.at(i).get<std::int64_t>()));
    }
    // Those of a process that is made again in memory may have no copy yet.
    const auto without = std::ranges::find_if(series.files, [](const auto& o) { return o.checksums.empty(); });
    series.kept = without - series.files.begin();
    return series;
  };
  files.outputs = series_of(json.at("outputs"));
  const auto take = [&](const Json& from, std::map<std::string, FilesInTime::Series>& all) {
    all.clear();
    for (const std::string& name : from.names()) all[name] = series_of(from.at(name));
  };
  take(json.at("slices"), files.slices);
  take(json.at("of_walls"), files.of_walls);
}

}  // namespace karst

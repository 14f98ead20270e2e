// SPDX-License-Identifier: BSD-3-Clause
#include "app/files_in_time.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "app/solve_store.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/agree.hpp"

namespace karst {

namespace {

constexpr const char *last_plot = "plot.vtkhdf", *series_name = "output.vtkhdf.series";

/// The list of the outputs and, unless it is empty, of a last plotfile. Collective.
void write_series(const JobContext& run, const FilesInTime& files, const std::string& last = "", double time = 0.0) {
  if (files.outputs.empty()) return;
  Json json{{"file-series-version", "1.0"}, {"files", Json::array()}};
  const auto add = [&](const std::string& name, double t) {
    json["files"].push_back(Json{{"name", name}, {"time", t}});
  };
  for (const FilesInTime::Output& o : files.outputs) add(o.name, o.time);
  if (!last.empty()) add(last, time);
  write_file(run.comm, run.file(series_name), json.dump() + '\n');
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "{}: cannot be read", path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

void write_output(const JobContext& run, FilesInTime& files, double time, const std::vector<JobComponent>& fields) {
  if (!run.plot) return;
  files.outputs.push_back({fmt::format("output_{:04}.vtkhdf", files.outputs.size() + 1), time});
  run.plot(files.outputs.back().name, time, fields);
  write_series(run, files);
}

void leave_outputs(const JobContext& run, const FilesInTime& files, double time,
                   const std::vector<JobComponent>& fields) {
  if (!run.plot || run.left == nullptr) return;
  run.plot(last_plot, time, fields);
  write_series(run, files, last_plot, time);
  run.left->emplace_back(last_plot);
  for (const FilesInTime::Output& o : files.outputs) run.left->push_back(o.name);
  if (!files.outputs.empty()) run.left->emplace_back(series_name);
}

void finish_files(const JobContext& run, const FilesInTime& files, double time, JobResult& result) {
  result.time = time;
  if (files.outputs.empty()) return;
  write_series(run, files, result.components.empty() ? "" : last_plot, time);
  result.files.push_back({"output_*.vtkhdf", "the fields at the output times of [time]"});
  result.files.push_back({series_name, "all of them with their times: open this one in ParaView"});
}

void keep_files(const JobContext& run, FilesInTime& files) {
  agree(run.comm, [&] {
    if (run.comm.rank() != 0) return;
    files.texts.clear();
    for (const std::string& name : files.histories) files.texts.push_back(text_of(run.file(name)));
    for (; files.kept < files.outputs.size(); ++files.kept)
      files.outputs[files.kept].checksum = run.solved->keep_file(run.file(files.outputs[files.kept].name));
  });
  files.kept = files.outputs.size();
}

void bring_files(const JobContext& run, const FilesInTime& files) {
  if (run.comm.rank() != 0) return;
  for (const FilesInTime::Output& o : files.outputs) run.solved->bring_file(run.file(o.name), o.checksum);
  for (std::size_t i = 0; i < files.histories.size(); ++i) {
    const std::string path = run.file(files.histories[i]);
    std::ofstream file(path, std::ios::binary);
    file << files.texts.at(i) << std::flush;
    require(file.good(), "{}: cannot be written", path);
  }
}

Json files_json(const FilesInTime& files) {
  Json json{{"histories", files.histories}, {"texts", files.texts}, {"outputs", Json::array()}};
  for (const FilesInTime::Output& o : files.outputs)
    json["outputs"].push_back(Json{o.name, o.time, std::int64_t{o.checksum}});
  return json;
}

void take_files(const Json& json, FilesInTime& files) {
  const auto histories = json.at("histories").get<std::vector<std::string>>();
  require(histories == files.histories, "it has the files {} in place of {}", join(histories, ", "),
          join(files.histories, ", "));
  files.texts = json.at("texts").get<std::vector<std::string>>();
  require(files.texts.size() == files.histories.size(), "it has {} histories in place of {}", files.texts.size(),
          files.histories.size());
  files.outputs.clear();
  for (const Json& o : json.at("outputs"))
    files.outputs.push_back(
        {o.at(0).get<std::string>(), o.at(1).get<double>(), static_cast<std::uint32_t>(o.at(2).get<std::int64_t>())});
  files.kept = files.outputs.size();
}

}  // namespace karst

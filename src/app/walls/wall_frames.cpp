// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/walls_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/job/moving_walls.hpp"
#include "app/output/page_values.hpp"
#include "app/output/plot_file.hpp"
#include "base/core/format.hpp"

namespace karst {

namespace {

constexpr const char* fluid_name = "fraction";

/// What of each cell is fluid.
JobComponent fluid_field(const JobContext& run) {
  const PlotComponent component{fluid_name, PlotField::fraction, 0};
  return {PlotField::fraction, fluid_name,
          [component, ground = run.ground, walls = run.walls](int level, std::int64_t box, std::span<float> cells) {
            fill_plot_component(ground->geometry(), walls->now, 1.0, component, level, box, cells);
          },
          run.ground};
}

/// The fluid, then concentrations of steady transport.
std::vector<std::string> animated_fields(const Config& config) {
  std::vector<std::string> names{fluid_name};
  if (config.transport.asked() && config.transport.steady())
    for (const ComponentDeck& c : config.transport.components) names.push_back(concentration_name(c.name));
  return names;
}

int axis_of_run(const Config& config) {
  return config.flow.model != FlowModel::none ? config.flow.axes[0] : config.transport.axis;
}

/// What is fluid in each frame, coloured by what was fluid in the first one.
PlaneFrames marked_by_first(PlaneFrames frames) {
  if (frames.values.empty()) return frames;
  const std::vector<float> first = frames.values.front();
  for (std::vector<float>& frame : frames.values)
    for (std::size_t i = 0; i < frame.size(); ++i)
      if (std::isfinite(frame[i])) frame[i] = std::isfinite(first[i]) ? first[i] : 0.0F;
  return frames;
}

/// Ends of the scale: those of all frames.
PlaneLook look_of(const JobContext& run, const PlaneFrames& frames, bool is_fluid, double end) {
  PlaneLook look;
  look.low = 0.0;
  look.high = is_fluid ? 1.0 : 0.0;
  for (const std::vector<float>& frame : frames.values)
    for (const float v : frame)
      if (!is_fluid && std::isfinite(v))
        look.high = std::max(look.high, double{v}), look.low = std::min(look.low, double{v});
  if (!(look.high > look.low)) look.high = look.low + 1.0;
  look.quantity = is_fluid ? "fluid at the beginning" : "concentration";
  look.cell_width = run.grid.cell_width();
  look.caption =
      fmt::format("0 to {}, plane in the middle of {}", format_si(end, "s"), axis_names[frames.plane.direction]);
  return look;
}

}  // namespace

void add_wall_frame(const JobContext& run, const std::vector<JobComponent>& of_jobs, bool last, Recorder& recorder) {
  if (!run.config.walls.animation || !(last || recorder.step_frame_due())) return;
  std::vector<JobComponent> fields{fluid_field(run)};
  for (const JobComponent& c : of_jobs)
    if (c.ground == run.ground) fields.push_back(c);
  recorder.add_step_frame(view_of(run, std::move(fields)), animated_fields(run.config), axis_of_run(run.config));
}

void leave_wall_animations(const JobContext& run, const Recorder& recorder, JobResult& result) {
  if (!run.config.walls.animation) return;
  result.files.push_back({"animation_*.png", "animation of the walls and concentrations, for a browser"});
  const std::vector<std::string> names = animated_fields(run.config);
  const std::vector<PlaneFrames>& frames = recorder.recorded().frames;
  for (std::size_t i = 0; i < std::min(names.size(), frames.size()); ++i) {
    const bool is_fluid = i == 0;
    const std::string name = is_fluid ? "walls" : run.config.transport.components[i - 1].name;
    recorder.leave_animation(
        is_fluid ? marked_by_first(frames[i]) : frames[i], look_of(run, frames[i], is_fluid, recorder.recorded().time),
        fmt::format("animation_{}.png", name),
        is_fluid ? std::string("walls moving") : fmt::format("walls {} moving", name), result.figures);
  }
}

std::string wall_animation_card(const Json& summary, const Figures& figures) {
  PictureRow pictures(figures);
  pictures.add("walls moving");
  if (summary.contains("transport"))
    for (const Json& c : summary.at("transport").at("components"))
      pictures.add(fmt::format("walls {} moving", name_of(c)));
  std::vector<std::string> cards;
  pictures.add_card("Walls that move",
                    "Gray is solid; of the fluid, yellow was fluid at the beginning and blue was solid. Between two "
                    "pictures walls move "
                    "by about as much each time.",
                    cards, 2);
  return cards.empty() ? "" : cards.front();
}

}  // namespace karst

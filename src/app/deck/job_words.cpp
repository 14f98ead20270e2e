// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/job_words.hpp"

#include <algorithm>
#include <array>

#include "app/deck/config.hpp"

namespace karst {

namespace {

constexpr std::array job_list{
    JobWord{
        "flow",
        "[flow] with model = \"stokes\" or \"steady\" and flow.drive: permeability and velocity; with [[flow.inlet]]: "
        "flow rate and pressure drop; with [[flow.lid]]: friction; \"unsteady-stokes\" and [time]: transient flow",
        [](const Config& config) { return config.flow.model != FlowModel::none; }},
    JobWord{"dynamic_permeability",
            "[dynamic_permeability] with axes = [\"x\"], beside a [flow] with model = \"stokes\": permeability against "
            "the frequency of the driving force",
            [](const Config& config) { return !config.dynamic_permeability.axes.empty(); }},
    JobWord{"diffusion", "[diffusion] with axes = [\"x\", \"y\", \"z\"]: effective diffusivity and formation factor",
            [](const Config& config) { return !config.diffusion.axes.empty(); }},
    JobWord{"dispersion",
            "[dispersion] with axes = [\"x\"] and peclet = [1, 10, 100], beside a periodic [flow]: dispersion tensor",
            [](const Config& config) { return !config.dispersion.axes.empty(); }},
    JobWord{"transport",
            "[[transport.component]] and [time]: transient transport of dissolved components, breakthrough; with "
            "transport.mode = \"steady\": their steady state",
            [](const Config& config) { return config.transport.asked(); }},
    JobWord{"walls",
            "[[walls.mineral]] and [time]: walls that move, because a mineral dissolves or grows; flow and transport "
            "are solved for each of their positions",
            [](const Config& config) { return config.walls.asked(); }}};

}  // namespace

std::span<const JobWord> job_words() { return job_list; }

const JobWord& job_word(std::string_view name) { return *std::ranges::find(job_list, name, &JobWord::name); }

}  // namespace karst

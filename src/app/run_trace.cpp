// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_trace.hpp"

#include <charconv>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace karst {

namespace {

/// A whole number from 1; 0 where the text is none.
std::int64_t step_of(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  return problem == std::errc() && end == text.data() + text.size() && n > 0 ? n : 0;
}

void read_steps(const std::string& text, TraceOptions& options) {
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    options.first_step = step_of(std::string_view(text).substr(0, colon));
    options.last_step = step_of(std::string_view(text).substr(colon + 1));
  }
  require(colon != std::string::npos && options.first_step > 0 && options.last_step >= options.first_step,
          "--trace-steps {}: wanted: FIRST:LAST, two numbers of steps from 1, the second not below the first, as in "
          "100:110",
          text);
}

}  // namespace

std::unique_ptr<Trace> begin_trace(const Comm& comm, const CommandLine& line, const Config& config) {
  if (line.trace.empty()) return nullptr;
  TraceOptions options;
  options.file = line.trace;
  options.megabytes = line.trace_room;
  if (!line.trace_steps.empty()) {
    read_steps(line.trace_steps, options);
    require(is_in_time(config.flow.model) || (config.transport.asked() && !config.transport.steady()),
            "--trace-steps {}: this run has no steps in time; leave it out", line.trace_steps);
  }
  return std::make_unique<Trace>(comm, options, line.overwrite);
}

void finish_trace(Trace* trace, const CommandLine& line) {
  if (trace == nullptr) return;
  const Trace::Written w = trace->write();
  log_info("Trace in {}: {} events, {:.1f} MB; open it in https://ui.perfetto.dev or with tools/karst_trace.py",
           line.trace, w.events, 1e-6 * static_cast<double>(w.bytes));
  if (w.events == 0) log_warn("the trace is empty: the run made no step of --trace-steps {}", line.trace_steps);
  if (w.dropped > 0)
    log_warn(
        "the trace was full: {} slices and messages are missing at its end; raise --trace-room or choose fewer "
        "--trace-steps",
        w.dropped);
}

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/run_trace.hpp"

#include "app/job/step_times.hpp"
#include "base/file/log.hpp"

namespace karst {

Trace begin_trace(const Comm& comm, const CommandLine& line, const Config& config) {
  if (line.trace.empty()) return {};
  TraceOptions options;
  options.file = line.trace;
  options.megabytes = line.trace_room;
  if (!line.trace_steps.empty()) {
    const StepRange steps = read_steps("--trace-steps", line.trace_steps, config);
    options.first_step = steps.first;
    options.last_step = steps.last;
  }
  return {comm, options, line.overwrite};
}

void finish_trace(Trace& trace, const CommandLine& line) {
  if (!trace.taken()) return;
  const Trace::Written w = trace.write();
  log_info("Trace in {}: {} events, {:.1f} MB; open it {}", line.trace, w.events, 1e-6 * static_cast<double>(w.bytes),
           line.trace.ends_with(".otf2") ? "by its traces.otf2, in Vampir or with otf2-print"
                                         : "in https://ui.perfetto.dev or with tools/karst_trace.py");
  if (w.events == 0) log_warn("the trace is empty: the run made no step of --trace-steps {}", line.trace_steps);
  if (w.dropped > 0)
    log_warn(
        "the trace buffer was full: {} slices and messages are missing at the end; increase --trace-room or choose "
        "fewer --trace-steps",
        w.dropped);
}

}  // namespace karst

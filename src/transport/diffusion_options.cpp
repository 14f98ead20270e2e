// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion_options.hpp"

#include "base/deck/read_axes.hpp"
#include "transport/volumes/usual_diffusivities.hpp"

namespace karst {

void read(Reader& in, DiffusionOptions& options) {
  in.changes_answers_of("diffusion", {"diffusion"});
  in.changes_answers_of("diffusion.axes", {});  // which solves there are
  const bool none = read_axes(in, "diffusion.axes", options.axes,
                              "directions in which the effective diffusivity is computed, such as [\"x\", \"y\", "
                              "\"z\"]; one solve each; if any are named, `karst run` does this job");
  in.number("diffusion.diffusivity", options.diffusivity, "m2/s",
            "diffusivity of the species in the free fluid; the formation factor does not depend on it", 1e-300, 1e300,
            usual_diffusivities);
  in.number("diffusion.tolerance", options.tolerance, "-",
            "relative residual at which a solve ends; the difference of inflow and outflow shows the remaining error",
            1e-13, 1e-2);
  in.integer("diffusion.max_iterations", options.max_iterations, "-", "a solve that needs more is an error", 1,
             1000000);
  in.changes_answers_of("diffusion.estimate_error", {});
  in.flag("diffusion.estimate_error", options.estimate_error,
          "also solves on cells twice and three times as wide (a sixth of the work), where these fill the domain, to "
          "estimate the discretisation error of the effective diffusivity and to extrapolate it to zero cell width; "
          "where these grids disagree, also on cells 1.5 times as wide");
  if (none)
    in.refuse({"diffusion.diffusivity", "diffusion.tolerance", "diffusion.max_iterations", "diffusion.estimate_error"},
              "given without diffusion.axes, which requests the job: axes = [\"x\", \"y\", \"z\"]");
}

}  // namespace karst

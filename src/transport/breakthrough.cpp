// SPDX-License-Identifier: BSD-3-Clause
#include "transport/breakthrough.hpp"

#include <algorithm>
#include <cmath>

namespace karst {

void SignalMoments::add(double t, double value) {
  const double more = value - start_;
  m0_ += more * (t - t_);
  m1_ += more * (t * t - t_ * t_) / 2.0;
  m2_ += more * (t * t * t - t_ * t_ * t_) / 3.0;
  last_ = value;
  t_ = t;
}

double SignalMoments::front(int k) const {
  const double rise = last_ - start_;
  return k == 0 ? rise : std::pow(t_, k) * rise - k * pulse(k - 1);
}

std::optional<Breakthrough> breakthrough(const SignalMoments& inlet, const SignalMoments& outlet,
                                         double least_recovered) {
  constexpr double gone = 1e-6;  // of its mean: what is left of a pulse at the inlet
  Breakthrough result;
  result.pulse = std::abs(inlet.last() - inlet.start()) * inlet.time() <= gone * std::abs(inlet.pulse(0));
  const auto moment = [&](const SignalMoments& s, int k) { return result.pulse ? s.pulse(k) : s.front(k); };
  const double in = moment(inlet, 0), out = moment(outlet, 0);
  // What came in has to be more than round-off, and what came out no more than it: a source or a wall that gives would
  // make moments of something else.
  const double size = std::max(std::abs(inlet.start()), std::abs(inlet.last())) * (result.pulse ? inlet.time() : 1.0);
  if (!(std::abs(in) > 1e-6 * size) || !(out / in >= least_recovered && out / in <= 2.0 - least_recovered)) return {};
  result.recovered = out / in;
  const double mean_in = moment(inlet, 1) / in, mean_out = moment(outlet, 1) / out;
  result.mean_time = mean_out - mean_in;
  result.variance = (moment(outlet, 2) / out - mean_out * mean_out) - (moment(inlet, 2) / in - mean_in * mean_in);
  return result;
}

double missing_variance(const Breakthrough& response, double end) {
  const double rest = std::max(0.0, 1.0 - response.recovered), late = std::max(0.0, end - response.mean_time);
  return response.variance > 0.0 ? rest * late * late / response.variance : 0.0;
}

std::optional<double> closed_vessel_dispersion(double relative_variance) {
  if (!(relative_variance > 0.0 && relative_variance < 1.0)) return {};
  const auto variance = [](double d) { return 2.0 * d - 2.0 * d * d * -std::expm1(-1.0 / d); };
  double low = 1e-12, high = 1.0;
  while (variance(high) < relative_variance) {
    high *= 2.0;
    if (high > 1e6) return {};
  }
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (variance(middle) < relative_variance ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
// Whether a history has come to repeat itself: its period, its mean and its amplitude.
#pragma once

#include <complex>
#include <numbers>
#include <optional>
#include <span>

namespace karst {

struct PeriodicState {
  double begin = 0.0, end = 0.0;  ///< the last whole period [s]
  double mean = 0.0;              ///< over it
  double amplitude = 0.0;         ///< half of largest - smallest value in it

  double frequency() const { return 1.0 / (end - begin); }
};

/// The state of the last two periods, between three times at which the values rise through their mean. None where these
/// are fewer, where the periods, or their largest and smallest values, differ by more than 1 % of a period, or of the
/// amplitude, and where the amplitude is below 0.1 % of the largest value. Not collective.
/// @param time    [s], increasing
/// @param values  at these times, straight lines in between
std::optional<PeriodicState> periodic_state(std::span<const double> time, std::span<const double> values);

/// 2/T ∫ values exp(-2πi t/T) dt over the last period T: a cos(2π t/T - φ) gives a exp(-iφ). Trapezoidal rule: of
/// second order in the steps.
std::complex<double> fourier_amplitude(const PeriodicState& state, std::span<const double> time,
                                       std::span<const double> values);

/// What flows stays behind the drive by [degrees].
/// @param permeability  of a drive that oscillates
inline double degrees_behind(std::complex<double> permeability) {
  return -std::arg(permeability) * 180.0 / std::numbers::pi;
}

}  // namespace karst

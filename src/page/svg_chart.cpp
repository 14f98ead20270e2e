// SPDX-License-Identifier: BSD-3-Clause
#include "page/svg_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "page/page_text.hpp"

namespace karst {
namespace {

constexpr double letter = 8.3;      // width of a letter, about, at 14 pixels, of the widest usual fonts
constexpr double row_high = 20;     // of names above the chart [pixels]
constexpr double sample_long = 27;  // of a line in the legend, with the gap behind it

/// Ticks are shown with the decimals that tell them apart.
std::string tick_text(double value, double step) {
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  if (value == 0 && step < 1e-6) return "0";  // nine decimals would not tell more
  const bool large = std::abs(value) >= 1e6 || step < 1e-6;
  return large && value != 0 ? fmt::format("{:.3g}", value) : fmt::format("{:.{}f}", value + 0.0, decimals);
}

double step_of(const std::vector<double>& at) { return at.size() > 1 ? at[1] - at[0] : 1; }

/// "10⁻²"
std::string power_of_ten(int exponent) {
  constexpr std::array<const char*, 10> digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = exponent < 0 ? "10⁻" : "10";
  for (const char c : fmt::format("{}", std::abs(exponent))) out += digits[c - '0'];
  return out;
}

struct Tick {
  double at;
  std::string text;
};

/// Powers of ten, over many decades some of them; over three decades at most 1, 2, 5 times one.
std::vector<Tick> log_ticks(const ChartAxis& axis) {
  std::vector<Tick> all;
  const bool decades = axis.high - axis.low > 3.01;
  constexpr double most = 12.0;
  const int every = static_cast<int>(std::max(std::ceil((axis.high - axis.low) / most), 1.0));
  for (int n = static_cast<int>(std::floor(axis.low)); n <= std::floor(axis.high + 1e-9); n += every)
    for (const double m : {1.0, 2.0, 5.0}) {
      const double at = n + std::log10(m);
      if (at < axis.low - 1e-9 || at > axis.high + 1e-9 || (decades && m > 1)) continue;
      all.push_back({at, decades ? power_of_ten(n) : fmt::format("{:g}", m * std::pow(10, n))});
    }
  return all;
}

std::vector<Tick> ticks_of(const ChartAxis& axis, int wanted) {
  if (axis.log10) return log_ticks(axis);
  std::vector<Tick> all;
  const std::vector<double> at = ticks(axis.low, axis.high, wanted, axis.whole ? 1.0 : 0.0);
  all.reserve(at.size());
  for (const double t : at) all.push_back({t, tick_text(t, step_of(at))});
  return all;
}

/// An axis that numbers can be drawn along, whatever they are: finite ends, the lower one below, logarithms those of
/// numbers.
void make_sound(ChartAxis& axis) {
  const double most = axis.log10 ? 330.0 : 1e300;
  axis.low = std::isfinite(axis.low) ? std::clamp(axis.low, -most, most) : 0.0;
  axis.high = std::isfinite(axis.high) ? std::clamp(axis.high, -most, most) : axis.low + 1.0;
  const double least = std::max(1e-12 * std::abs(axis.low), 1e-300);
  if (!(axis.high - axis.low >= least)) axis.high = axis.low + std::max(std::abs(axis.low), 1.0);
}

constexpr int ticks_upright = 5, ticks_level = 6;

/// The widest number at an upright axis [pixels].
double numbers_wide(const ChartAxis& axis) {
  double widest = 0;
  for (const Tick& t : ticks_of(axis, ticks_upright)) widest = std::max(widest, text_width(t.text));
  return widest;
}

/// Where the names of the legend begin: x, and the row from 0.
std::vector<std::pair<double, int>> legend_places(const Chart& chart, double left, double right) {
  std::vector<std::pair<double, int>> places;
  double x = left;
  int row = 0;
  for (const ChartSeries& s : chart.series) {
    const double wide = s.name.empty() ? 0 : sample_long + text_width(s.name);
    if (wide > 0 && x > left && x + wide > right) x = left, ++row;
    places.emplace_back(x, row);
    if (wide > 0) x += wide + 18;
  }
  return places;
}

int legend_rows(const Chart& chart, double left, double right) {
  const bool named =
      std::any_of(chart.series.begin(), chart.series.end(), [](const auto& s) { return !s.name.empty(); });
  return named ? legend_places(chart, left, right).back().second + 1 : 0;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escape_html(text));
}

std::string line_between(double x1, double y1, double x2, double y2, const char* kind) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     kind);
}

enum class Edge { left, right, top, bottom };

/// An axis along y: grid lines for the left one, numbers, and its name above.
std::string upright_axis(const Chart& chart, const ChartFrame& f, const ChartAxis& axis, Edge edge) {
  std::string out;
  const bool right = edge == Edge::right;
  for (const Tick& t : ticks_of(axis, ticks_upright)) {
    const double y = f.y(axis, t.at);
    if (!right) out += line_between(f.left, y, f.right, y, "grid");
    out += text_at(right ? f.right + 6 : f.left - 6, y + 5, right ? "start" : "end", t.text);
  }
  const double row = row_high * (legend_rows(chart, f.left, f.right) + 1) - 5;
  return out + text_at(right ? chart.width - 2 : 2, row, right ? "end" : "start", axis.label, " class=\"label\"");
}

std::string level_axis(const ChartFrame& f, const ChartAxis& axis, Edge edge) {
  std::string out;
  const bool top = edge == Edge::top;
  const double line = top ? f.top : f.bottom, away = top ? -1 : 1;
  for (const Tick& t : ticks_of(axis, ticks_level)) {
    const double x = f.x(axis, t.at);
    out += line_between(x, line, x, line + 4 * away, "axis");
    out += text_at(x, line + (top ? -7 : 19), "middle", t.text);
  }
  return out + text_at(0.5 * (f.left + f.right), line + (top ? -25 : 39), "middle", axis.label, " class=\"label\"");
}

/// The beginning of a path. A point is a line of no length with round ends.
std::string stroke(const ChartSeries& s) {
  return fmt::format("<path class=\"{}\" stroke=\"{}\"{}", s.drawn == DrawnAs::points ? "line point" : "line", s.colour,
                     s.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", s.dash));
}

std::string line_path(const ChartFrame& f, const ChartAxis& x, const ChartAxis& y, const ChartSeries& s) {
  std::string path;
  bool down = false;  // the pen; lifted where a value is not finite
  for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
    const bool finite = std::isfinite(s.x[i]) && std::isfinite(s.y[i]);
    if (finite)
      path += fmt::format("{}{:.2f},{:.2f}{}", down ? "L" : "M", f.x(x, s.x[i]), f.y(y, s.y[i]),
                          s.drawn == DrawnAs::points ? "h0" : "");
    down = finite && s.drawn == DrawnAs::line;
  }
  return path;
}

std::string bar_path(const ChartFrame& f, const ChartAxis& x, const ChartAxis& y, const ChartSeries& s) {
  std::string path;
  for (std::size_t i = 0; i < s.y.size() && i + 1 < s.x.size(); ++i) {
    if (!(s.y[i] > y.low)) continue;
    const double left = f.x(x, s.x[i]), right = f.x(x, s.x[i + 1]);
    const double gap = right - left > 5 ? 0.5 : 0;
    path += fmt::format("M{:.2f},{:.2f}V{:.2f}H{:.2f}V{:.2f}Z", left + gap, f.bottom, f.y(y, s.y[i]), right - gap,
                        f.bottom);
  }
  return path;
}

std::string drawn(const Chart& chart, const ChartFrame& f, const ChartSeries& s) {
  const ChartAxis& y = s.on_right && chart.right ? *chart.right : chart.y;
  if (s.drawn == DrawnAs::bars)
    return fmt::format("<path class=\"bars\" fill=\"{}\" d=\"{}\"/>\n", s.colour, bar_path(f, chart.x, y, s));
  return stroke(s) + fmt::format(" d=\"{}\"/>\n", line_path(f, chart.x, y, s));
}

std::string legend(const Chart& chart, const ChartFrame& f) {
  std::string out;
  const auto places = legend_places(chart, f.left, f.right);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& s = chart.series[i];
    if (s.name.empty()) continue;
    const double x = places[i].first, y = row_high * places[i].second + 10;
    if (s.drawn == DrawnAs::bars)
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"10\" fill=\"{}\"/>\n", x + 4, y - 5,
                         s.colour);
    else
      out +=
          stroke(s) + fmt::format(" d=\"M{:.1f},{:.1f}{}\"/>\n", x, y, s.drawn == DrawnAs::points ? "m11,0h0" : "h22");
    out += text_at(x + sample_long, y + 5, "start", s.name);
  }
  return out;
}

std::string marks(const Chart& chart, const ChartFrame& f) {
  std::string out;
  double row = f.top + 14;
  for (const ChartMark& m : chart.marks) {
    const double x = f.x(chart.x, m.x);
    const bool left = x > 0.5 * (f.left + f.right);
    out += line_between(x, f.top, x, f.bottom, "mark");
    out += text_at(x + (left ? -5 : 5), row, left ? "end" : "start", m.text, " class=\"halo\"");
    row += 17;
  }
  for (const ChartWord& w : chart.words) {
    const double x = f.x(chart.x, std::clamp(0.5 * (std::max(w.low, chart.x.low) + std::min(w.high, chart.x.high)),
                                             chart.x.low, chart.x.high));
    out += text_at(x, f.top - 6, "middle", w.text, fmt::format(" class=\"word\" fill=\"{}\"", w.colour));
  }
  return out;
}

}  // namespace

double text_width(const std::string& text) { return letter * static_cast<double>(letters_of(text)); }

ChartFrame frame_of(const Chart& chart) {
  const double left = std::max(34.0, numbers_wide(chart.y) + 10);
  const double right = chart.width - (chart.right ? numbers_wide(*chart.right) + 10 : 20);
  const bool named = !chart.y.label.empty() || chart.right;
  const double top = row_high * (legend_rows(chart, left, right) + (named ? 1 : 0)) + 8 + (chart.top ? 42 : 0) +
                     (chart.words.empty() ? 0 : 18);
  return {left, top, right, chart.height - 48};
}

std::vector<double> ticks(double low, double high, int wanted, double least) {
  // A range that is round-off: steps would not move the numbers.
  if (!(high - low > 1e-12 * std::max(std::abs(low), std::abs(high)))) return {low, high};
  const double rough = std::max((high - low) / wanted, least), power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double m : {5.0, 2.0, 1.0})
    if (rough <= 1.001 * m * power) step = m * power;
  std::vector<double> at;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n) at.push_back(n * step);
  return at;
}

double axis_end(double value) {
  if (!std::isfinite(value) || value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double m : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
    if (value <= m * power * (1 + 1e-12)) return m * power;
  return 10 * power;
}

std::string svg(const Chart& given) {
  Chart chart = given;
  if (chart.series.size() == 1) chart.series[0].dash.clear();  // dashes tell curves apart
  std::map<std::string, int> seen;
  for (ChartSeries& s : chart.series)  // more curves than colours
    if (!s.name.empty() && s.drawn == DrawnAs::line && ++seen[s.colour + s.dash] > 1) s.dash = "7 3";
  for (ChartAxis* axis : {&chart.x, &chart.y, chart.right ? &*chart.right : nullptr, chart.top ? &*chart.top : nullptr})
    if (axis != nullptr) make_sound(*axis);
  const ChartFrame f = frame_of(chart);
  const std::string about = escape_html(chart.description);
  std::string out = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\"><title>{2}</title>\n",
      chart.width, chart.height, about);
  out += upright_axis(chart, f, chart.y, Edge::left);
  if (chart.right) out += upright_axis(chart, f, *chart.right, Edge::right);
  // an <svg> inside cuts off what is beyond the axes
  out += fmt::format(
      "<svg x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3:.1f}\" viewBox=\"{0:.1f} {1:.1f} {2:.1f} "
      "{3:.1f}\">\n",
      f.left, f.top, f.right - f.left, f.bottom - f.top);
  for (const ChartSeries& s : chart.series) out += drawn(chart, f, s);
  out += "</svg>\n" + line_between(f.left, f.bottom, f.right, f.bottom, "axis");
  out += level_axis(f, chart.x, Edge::bottom);
  if (chart.top) out += level_axis(f, *chart.top, Edge::top);
  return out + marks(chart, f) + legend(chart, f) + "</svg>\n";
}

}  // namespace karst

#include "coordinator/fleet/simulator/synthetic.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rekindle::fleet {
namespace {

// In a spell a zone has capacity without a break, or has little or none without a break. The share `kShare` of the
// spells is short, because real capacity often comes and goes quickly.
constexpr double kShare = 0.25;
constexpr double kShortHours = 0.4;
constexpr double kUpHours = 9;
constexpr double kDownHours = 4;

// Returns a random number in (0, 1) from the generator's own bits, because the standard distributions differ between
// libraries.
double Uniform(std::mt19937_64& random) { return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0; }

double Spell(std::mt19937_64& random, double mean) {
  const double hours = Uniform(random) < kShare ? kShortHours : mean;
  return -hours * std::log(Uniform(random));
}

}  // namespace

Trace SyntheticTrace(const SyntheticOptions& options) {
  std::mt19937_64 random(options.seed);
  Trace trace{.step_seconds = options.step_seconds};
  const int steps = static_cast<int>(options.hours * 3600 / options.step_seconds);
  for (int z = 0; z < options.zones; ++z) {
    ZoneTrace zone{.zone = absl::StrCat("zone-", z + 1)};
    // Some zones have capacity for longer than others.
    const double luck = 0.5 + Uniform(random);
    bool up = Uniform(random) < 0.6;
    double left = Spell(random, up ? kUpHours * luck : kDownHours);
    int nodes = up ? options.nodes : 0;
    double level = 1;
    for (int i = 0; i < steps; ++i) {
      zone.nodes.push_back(nodes);
      zone.prices.push_back(options.price * level);
      left -= options.step_seconds / 3600;
      level = std::clamp(level + 0.004 * (Uniform(random) - 0.5), 0.8, 1.2);
      if (left > 0) continue;
      up = !up;
      left = Spell(random, up ? kUpHours * luck : kDownHours);
      const double part = up ? 0.5 + 0.5 * Uniform(random) : 0.4 * Uniform(random);
      nodes = options.nodes == 1 ? (up ? 1 : 0) : static_cast<int>(std::lround(part * options.nodes));
    }
    trace.zones.push_back(std::move(zone));
  }
  return trace;
}

std::string TraceText(const Trace& trace) {
  std::string text = "tick";
  for (const ZoneTrace& zone : trace.zones) absl::StrAppend(&text, ",", zone.zone);
  for (const ZoneTrace& zone : trace.zones) {
    if (!zone.prices.empty()) absl::StrAppend(&text, ",price_", zone.zone);
  }
  text += "\n";
  for (size_t i = 0; i < trace.zones[0].nodes.size(); ++i) {
    absl::StrAppend(&text, i);
    for (const ZoneTrace& zone : trace.zones) absl::StrAppend(&text, ",", zone.nodes[i]);
    for (const ZoneTrace& zone : trace.zones) {
      if (!zone.prices.empty()) absl::StrAppendFormat(&text, ",%.4f", zone.prices[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace rekindle::fleet

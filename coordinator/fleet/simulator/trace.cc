#include "coordinator/fleet/simulator/trace.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "coordinator/fleet/simulator/csv.h"

namespace rekindle::fleet {
namespace {

constexpr double kDefaultStep = 60;
constexpr double kMaxNodes = 1'000'000;
constexpr std::string_view kPrice = "price_";

// Returns the name of a file without its folder and ending. Series without a name of their own get this name.
std::string Stem(const std::string& source) {
  const size_t slash = source.find_last_of('/');
  const std::string name = slash == std::string::npos ? source : source.substr(slash + 1);
  return name.substr(0, name.find_last_of('.'));
}

absl::StatusOr<int> Nodes(const Csv& csv, size_t row, size_t column) {
  const auto value = csv.Number(row, column, 0);
  if (!value.ok()) return value.status();
  if (*value != std::floor(*value) || *value > kMaxNodes) {
    return csv.Error(row, absl::StrCat(*value, " is no number of nodes: use a whole one of at most ", kMaxNodes));
  }
  return static_cast<int>(*value);
}

// Ticks reads a trace file with the columns tick,ZONE,...[,price_ZONE,...].
class Ticks {
 public:
  Ticks(const Csv& csv, const std::string& source, const TraceOptions& options)
      : csv_(csv), source_(source), options_(options) {}

  absl::StatusOr<Trace> Read() {
    if (options_.step_seconds <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(source_, ": its ticks have no length: say how many seconds one is, with --step"));
    }
    Trace trace{.step_seconds = options_.step_seconds};
    if (absl::Status status = Columns(&trace); !status.ok()) return status;
    if (absl::Status status = Rename(&trace); !status.ok()) return status;
    for (size_t row = 0; row < csv_.rows(); ++row) {
      const auto tick = csv_.Number(row, 0, 0);
      if (!tick.ok()) return tick.status();
      if (*tick < static_cast<double>(row)) return csv_.Error(row, "`tick` goes backwards or repeats: sort the rows");
      if (*tick > static_cast<double>(row)) {
        return csv_.Error(
            row, absl::StrCat("ticks ", row, " to ", *tick - 1, " are missing: fill the gap or cut the file there"));
      }
      bool ended = false;
      if (absl::Status status = Row(row, &trace, &ended); !status.ok()) return status;
    }
    if (trace.zones[0].nodes.empty()) return csv_.Error(0, "has an empty cell: not all zones begin at tick 0");
    return trace;
  }

 private:
  absl::Status Columns(Trace* trace) {
    for (size_t c = 1; c < csv_.header().size(); ++c) {
      const std::string name(csv_.header()[c]);
      if (name.empty()) return absl::InvalidArgumentError(absl::StrCat(source_, ":1: column ", c + 1, " has no name"));
      if (name.rfind(kPrice, 0) != 0) {
        zone_columns_.push_back(c);
        trace->zones.push_back({.zone = name});
        continue;
      }
      const std::string zone = name.substr(kPrice.size());
      const auto of =
          std::find_if(trace->zones.begin(), trace->zones.end(), [&](const ZoneTrace& z) { return z.zone == zone; });
      if (of == trace->zones.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            source_, ":1: `", name, "` is the price of no column before it: name it price_ZONE, after its zone"));
      }
      price_columns_.emplace_back(c, of - trace->zones.begin());
    }
    if (zone_columns_.empty()) return absl::InvalidArgumentError(absl::StrCat(source_, ":1: has no column of a zone"));
    return absl::OkStatus();
  }

  absl::Status Rename(Trace* trace) {
    if (options_.name.empty()) return absl::OkStatus();
    if (trace->zones.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat(source_, ":1: has ", trace->zones.size(), " zones, so '",
                                                     options_.name,
                                                     "=' cannot name it: leave that out, and name its columns"));
    }
    trace->zones[0].zone = options_.name;
    return absl::OkStatus();
  }

  // Reads a row of a trace file. A zone whose trace ends earlier has empty cells from there on, and all zones end with
  // the first one that ends.
  absl::Status Row(size_t row, Trace* trace, bool* ended) {
    for (const size_t c : zone_columns_) *ended = *ended || csv_.cell(row, c).empty();
    for (size_t z = 0; z < zone_columns_.size(); ++z) {
      const size_t c = zone_columns_[z];
      if (csv_.cell(row, c).empty()) {
        ended_.insert(c);
        continue;
      }
      if (ended_.count(c) > 0)
        return csv_.Error(row, "has values after an empty cell: fill the gap or cut the file there");
      const auto nodes = Nodes(csv_, row, c);
      if (!nodes.ok()) return nodes.status();
      if (!*ended) trace->zones[z].nodes.push_back(*nodes);
    }
    if (*ended) return absl::OkStatus();
    for (const auto& [c, zone] : price_columns_) {
      const auto price = csv_.Number(row, c, 0);
      if (!price.ok()) return price.status();
      trace->zones[zone].prices.push_back(*price);
    }
    return absl::OkStatus();
  }

  const Csv& csv_;
  const std::string& source_;
  const TraceOptions& options_;
  std::vector<size_t> zone_columns_;
  // Each pair in `price_columns_` consists of a column of prices and the zone that the prices belong to.
  std::vector<std::pair<size_t, size_t>> price_columns_;
  std::set<size_t> ended_;
};

// Makes a trace from the pairs (seconds, nodes) at irregular times, by sampling them at the beginning of each step.
absl::StatusOr<Trace> Sample(const std::vector<std::pair<double, int>>& changes, const std::string& source,
                             const TraceOptions& options) {
  const double step = options.step_seconds > 0 ? options.step_seconds : kDefaultStep;
  const double steps = std::ceil(changes.back().first / step);
  if (steps < 1) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": ends where it begins: its last row must be later"));
  }
  if (steps > kMaxTraceSteps) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": would be ", steps, " steps: choose a longer --step"));
  }
  ZoneTrace zone{.zone = options.name.empty() ? Stem(source) : options.name};
  size_t next = 0;
  int nodes = 0;
  for (int i = 0; i < steps; ++i) {
    while (next < changes.size() && changes[next].first <= i * step) nodes = changes[next++].second;
    zone.nodes.push_back(nodes);
  }
  return Trace{.step_seconds = step, .zones = {std::move(zone)}};
}

absl::StatusOr<Trace> ReadCounts(const Csv& csv, const std::string& source, const TraceOptions& options) {
  std::vector<std::pair<double, int>> changes;
  for (size_t row = 0; row < csv.rows(); ++row) {
    const auto seconds = csv.Number(row, 0, 0);
    if (!seconds.ok()) return seconds.status();
    if (!changes.empty() && *seconds <= changes.back().first) {
      return csv.Error(row, "`seconds` goes backwards or repeats: sort the rows");
    }
    const auto nodes = Nodes(csv, row, 1);
    if (!nodes.ok()) return nodes.status();
    changes.emplace_back(*seconds, *nodes);
  }
  return Sample(changes, source, options);
}

absl::StatusOr<Trace> ReadEvents(const Csv& csv, const std::string& source, const TraceOptions& options) {
  std::vector<std::pair<double, int>> changes;
  std::set<std::string_view> there;
  for (size_t row = 0; row < csv.rows(); ++row) {
    const auto time = csv.Number(row, 0, 0);
    if (!time.ok()) return time.status();
    const double seconds = *time / 1000;
    if (!changes.empty() && seconds < changes.back().first)
      return csv.Error(row, "`time_ms` goes backwards: sort the rows");
    const std::string_view event = csv.cell(row, 1);
    const std::string_view node = csv.cell(row, 2);
    if (event == "add") {
      if (!there.insert(node).second) return csv.Error(row, "adds a node that is there: remove it first");
    } else if (event == "remove") {
      if (there.erase(node) == 0) return csv.Error(row, "removes a node that is not there: add it first");
    } else {
      return csv.Error(row, "`event` must be add or remove");
    }
    changes.emplace_back(seconds, static_cast<int>(there.size()));
  }
  return Sample(changes, source, options);
}

// Returns the region of a carbon file that is named carbon_REGION_YEAR, as the public data sets name their files.
std::string RegionOf(const std::string& source) {
  std::string name = Stem(source);
  if (name.rfind("carbon_", 0) == 0) name = name.substr(7);
  const size_t last = name.find_last_of('_');
  const bool year = last != std::string::npos && name.find_first_not_of("0123456789", last + 1) == std::string::npos;
  return year ? name.substr(0, last) : name;
}

absl::StatusOr<Trace> ReadCarbon(const Csv& csv, const std::string& source, const TraceOptions& options) {
  Trace trace{.step_seconds = 3600, .carbon_region = options.name.empty() ? RegionOf(source) : options.name};
  absl::Time expected;
  for (size_t row = 0; row < csv.rows(); ++row) {
    absl::Time time;
    std::string error;
    const std::string text(csv.cell(row, 0));
    if (!absl::ParseTime("%Y-%m-%d %H:%M:%S", text, &time, &error)) {
      return csv.Error(row, absl::StrCat("`datetime_utc` is '", text, "': write it like 2022-01-31 12:00:00"));
    }
    if (row > 0 && time < expected) return csv.Error(row, "`datetime_utc` goes backwards or repeats: sort the rows");
    if (row > 0 && time > expected) return csv.Error(row, "hours are missing before this one: fill the gap");
    if (row == 0) trace.begin = absl::ToDoubleSeconds(time - absl::UnixEpoch());
    expected = time + absl::Hours(1);
    const auto grams = csv.Number(row, 1, 0);
    if (!grams.ok()) return grams.status();
    trace.grams_per_kwh.push_back(*grams);
  }
  return trace;
}

}  // namespace

absl::StatusOr<Trace> ParseTrace(std::string_view text, const std::string& source, const TraceOptions& options) {
  const auto csv = Csv::Read(text, source);
  if (!csv.ok()) return csv.status();
  const std::vector<std::string> header(csv->header().begin(), csv->header().end());
  if (header[0] == "tick") return Ticks(*csv, source, options).Read();
  if (header == std::vector<std::string>{"seconds", "count"}) return ReadCounts(*csv, source, options);
  if (header == std::vector<std::string>{"time_ms", "event", "node"}) return ReadEvents(*csv, source, options);
  if (header == std::vector<std::string>{"datetime_utc", "direct_gco2eq_per_kwh", "lca_gco2eq_per_kwh"}) {
    return ReadCarbon(*csv, source, options);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(source, ":1: the columns ", absl::StrJoin(header, ","),
                   " are of no known trace; known: tick,ZONE,...,price_ZONE,... ",
                   "or seconds,count or time_ms,event,node or datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh"));
}

Trace Merge(const Trace& trace, int count) {
  Trace out{.step_seconds = trace.step_seconds * count};
  for (const ZoneTrace& zone : trace.zones) {
    ZoneTrace merged{.zone = zone.zone};
    for (size_t i = 0; i + count <= zone.nodes.size(); i += count) {
      merged.nodes.push_back(*std::min_element(zone.nodes.begin() + i, zone.nodes.begin() + i + count));
      if (zone.prices.empty()) continue;
      double sum = 0;
      for (int k = 0; k < count; ++k) sum += zone.prices[i + k];
      merged.prices.push_back(sum / count);
    }
    out.zones.push_back(std::move(merged));
  }
  return out;
}

}  // namespace rekindle::fleet

#include "common/metrics/metric_samples.h"

#include <utility>

namespace rekindle::common {

void MetricSamples::Gauge(const std::string& name, const std::string& help, double value, const Labels& labels) {
  Add(name, help, prometheus::MetricType::Gauge, value, labels);
}

void MetricSamples::Counter(const std::string& name, const std::string& help, double value, const Labels& labels) {
  Add(name, help, prometheus::MetricType::Counter, value, labels);
}

void MetricSamples::Add(const std::string& name, const std::string& help, prometheus::MetricType type, double value,
                        const Labels& labels) {
  Family& family = families_[name];
  if (family.values.empty()) {
    family.help = help;
    family.type = type;
  }
  family.values.emplace(labels, value);
}

std::vector<prometheus::MetricFamily> MetricSamples::Take() {
  std::vector<prometheus::MetricFamily> families;
  for (auto& [name, family] : families_) {
    prometheus::MetricFamily& taken = families.emplace_back();
    taken.name = name;
    taken.help = std::move(family.help);
    taken.type = family.type;
    for (const auto& [labels, value] : family.values) {
      prometheus::ClientMetric& metric = taken.metric.emplace_back();
      for (const auto& [label, text] : labels) metric.label.push_back({label, text});
      (family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    }
  }
  families_.clear();
  return families;
}

}  // namespace rekindle::common

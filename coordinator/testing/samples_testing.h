// Lets tests look up single values among metric samples.
#ifndef REKINDLE_COORDINATOR_TESTING_SAMPLES_TESTING_H_
#define REKINDLE_COORDINATOR_TESTING_SAMPLES_TESTING_H_

#include <map>
#include <optional>
#include <string>

#include "common/metrics/metric_samples.h"

namespace rekindle::coordinator {

// Holds the samples that `samples` had. The constructor takes them, so that `samples` is empty afterwards.
class TakenSamples {
 public:
  using Labels = common::MetricSamples::Labels;

  explicit TakenSamples(common::MetricSamples& samples) {
    for (const prometheus::MetricFamily& family : samples.Take()) {
      for (const prometheus::ClientMetric& metric : family.metric) {
        Labels labels;
        for (const auto& label : metric.label) labels[label.name] = label.value;
        const bool counts = family.type == prometheus::MetricType::Counter;
        values_[family.name][labels] = counts ? metric.counter.value : metric.gauge.value;
      }
    }
  }

  // Returns the value of a series, or nullopt when there is no such series.
  std::optional<double> Of(const std::string& name, const Labels& labels = {}) const {
    const auto family = values_.find(name);
    if (family == values_.end()) return std::nullopt;
    const auto value = family->second.find(labels);
    return value == family->second.end() ? std::nullopt : std::optional(value->second);
  }
  size_t CountOf(const std::string& name) const {
    const auto family = values_.find(name);
    return family == values_.end() ? 0 : family->second.size();
  }

 private:
  std::map<std::string, std::map<Labels, double>> values_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_TESTING_SAMPLES_TESTING_H_

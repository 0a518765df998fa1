// Collects metrics that are not counted all the time: their values are read when somebody requests the page of metrics
// (Metrics::AddSource).
#ifndef REKINDLE_COMMON_METRICS_METRIC_SAMPLES_H_
#define REKINDLE_COMMON_METRICS_METRIC_SAMPLES_H_

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <vector>

namespace rekindle::common {

// Collects the samples for one page. It is thread-compatible.
class MetricSamples {
 public:
  using Labels = std::map<std::string, std::string>;

  // Adds one value of the metric `name`. The first value that is added sets the metric's help text and kind. If the
  // same labels come twice, only the first value counts, because Prometheus would refuse a page that contains both.
  void Gauge(const std::string& name, const std::string& help, double value, const Labels& labels = {});
  // Adds the value of a counter. A counter never falls unless its process is restarted.
  void Counter(const std::string& name, const std::string& help, double value, const Labels& labels = {});

  // Returns all values that were added, by name, and removes them.
  std::vector<prometheus::MetricFamily> Take();

 private:
  struct Family {
    std::string help;
    prometheus::MetricType type = prometheus::MetricType::Gauge;
    std::map<Labels, double> values;
  };
  void Add(const std::string& name, const std::string& help, prometheus::MetricType type, double value,
           const Labels& labels);

  std::map<std::string, Family> families_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_METRICS_METRIC_SAMPLES_H_

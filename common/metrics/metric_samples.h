// Collects metrics whose values are read when the page is requested (Metrics::AddSource), rather than counted.
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

  // Adds one value. All values of a name get its first help and kind. If the same labels come twice, only the first
  // value counts, because Prometheus would refuse a page that contains both.
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

// Metrics whose values are looked up when somebody asks for the page (Metrics::AddSource), rather than counted.
#ifndef REKINDLE_COMMON_METRIC_SAMPLES_H_
#define REKINDLE_COMMON_METRIC_SAMPLES_H_

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <vector>

namespace rekindle::common {

// Thread-compatible.
class MetricSamples {
 public:
  using Labels = std::map<std::string, std::string>;

  // One value. All of a name have its first help and its kind, and the same labels never come twice: of two the first
  // counts, as a page with both would be refused as a whole.
  void Gauge(const std::string& name, const std::string& help, double value, const Labels& labels = {});
  // A counter never falls, but when its process starts anew.
  void Counter(const std::string& name, const std::string& help, double value, const Labels& labels = {});

  // All that were given, by name. Nothing is left.
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

#endif  // REKINDLE_COMMON_METRIC_SAMPLES_H_

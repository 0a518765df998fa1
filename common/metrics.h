// Prometheus metrics of a process, served over HTTP on loopback.
//
// Names are rekindle_*, in base units (_seconds, _bytes, _total). Label values must come from a small fixed set: never
// a step, a request or text of a user; or name what lives now, and be removed with it. Thread-safe.
#ifndef REKINDLE_COMMON_METRICS_H_
#define REKINDLE_COMMON_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

class Metrics {
 public:
  using Labels = std::map<std::string, std::string>;
  using Buckets = std::vector<double>;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The metric of that name and labels, made on the first call. References live as long as the Metrics.
  // REQUIRES the name to start with "rekindle_", and one kind a name.
  prometheus::Counter& Counter(const std::string& name, const std::string& help, const Labels& labels = {});
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help, const Buckets& buckets = Seconds(),
                                   const Labels& labels = {});

  // Takes one away whose label names what is over. References to it end.
  void RemoveGauge(const std::string& name, const std::string& help, const Labels& labels);

  // 1 ms to about 2 minutes, each twice the one before.
  static Buckets Seconds();

  // Serves http://address/metrics and returns the address with the port chosen. Once.
  // INVALID_ARGUMENT: no host:port, or not loopback. UNAVAILABLE: in use.
  absl::StatusOr<std::string> Serve(const std::string& address);

 private:
  std::shared_ptr<prometheus::Registry> registry_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_METRICS_H_

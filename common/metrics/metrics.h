// Counts the Prometheus metrics of a process and serves the page that shows them.
//
// Names are rekindle_*, in base units (_seconds, _bytes, _total). No two programs of this repository have a metric of
// the same name, except rekindle_build_info and the process_* metrics, which every program has. Label values come from
// a small fixed set. They are never a step, a request or text of a user. A metric whose label names a thing that can go
// away, such as a node, is removed with that thing. No label is called job or instance, as Prometheus uses these. The
// class is thread-safe.
#ifndef REKINDLE_COMMON_METRICS_METRICS_H_
#define REKINDLE_COMMON_METRICS_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/metrics/metric_samples.h"
#include "common/rpc/rpc.h"
#include "common/serve/http_server.h"

namespace rekindle::common {

class Metrics {
 public:
  using Labels = MetricSamples::Labels;
  using Buckets = std::vector<double>;
  // A `Source` adds values that are read only when the page of metrics is requested. The threads that serve the page
  // call the source, possibly several at once.
  using Source = std::function<void(MetricSamples&)>;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Returns the metric of that name and labels, and creates it on the first call. The reference lives as long as the
  // Metrics. REQUIRES: the name starts with "rekindle_", and all metrics of a name are of one kind.
  prometheus::Counter& Counter(const std::string& name, const std::string& help, const Labels& labels = {});
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help, const Buckets& buckets = Seconds(),
                                   const Labels& labels = {});

  // Adds a source of values. It must be called before Serve. Objects that the source refers to must outlive the Metrics
  // or the call of StopServing.
  void AddSource(Source source);

  // Returns histogram buckets from 1 ms to about 2 minutes, each twice the one before.
  static Buckets Seconds();

  // Returns the page of all metrics in Prometheus's text format.
  std::string Page() const;

  // Serves http://address/metrics, or beyond loopback https with the files of `security` (http_server.h). Returns the
  // address with the chosen port. It may be called once. INVALID_ARGUMENT says that the address is no host:port, or
  // that it is not loopback and the files are missing or unfit. UNAVAILABLE says that the address is in use.
  absl::StatusOr<std::string> Serve(const std::string& address, const Security& security);
  // Stops serving. No source is called after it returns. It is idempotent.
  void StopServing();

 private:
  const std::unique_ptr<prometheus::Registry> registry_;
  std::vector<Source> sources_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_METRICS_METRICS_H_

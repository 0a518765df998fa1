// Prometheus metrics of a process, and the page on which it shows them.
//
// Names are rekindle_*, in base units (_seconds, _bytes, _total), and one of this repository alone has each: no other
// program has a metric of the same name (but rekindle_build_info, and the process_* of all). Label values come from a
// small fixed set: never a step, a request or text of a user; or they name what lives now, and are gone when it is. No
// label is called job or instance: Prometheus has these. Thread-safe.
#ifndef REKINDLE_COMMON_METRICS_H_
#define REKINDLE_COMMON_METRICS_H_

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
#include "common/http_server.h"
#include "common/metric_samples.h"
#include "common/rpc.h"

namespace rekindle::common {

class Metrics {
 public:
  using Labels = MetricSamples::Labels;
  using Buckets = std::vector<double>;
  // Adds what is looked up only now. Called by the threads that serve, by several at once.
  using Source = std::function<void(MetricSamples&)>;

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

  // Before Serve. What it refers to must outlive the Metrics, or StopServing.
  void AddSource(Source source);

  // 1 ms to about 2 minutes, each twice the one before.
  static Buckets Seconds();

  // The page, in Prometheus's text format.
  std::string Page() const;

  // Serves http://address/metrics, or beyond loopback https with the files of `security` (http_server.h). Returns the
  // address with the port chosen. Once. INVALID_ARGUMENT: no host:port, or not loopback and the files are missing or
  // unfit. UNAVAILABLE: in use.
  absl::StatusOr<std::string> Serve(const std::string& address, const Security& security);
  // No source is called any more. Idempotent.
  void StopServing();

 private:
  const std::unique_ptr<prometheus::Registry> registry_;
  std::vector<Source> sources_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_METRICS_H_

// Adds the metrics that Prometheus has for every process under its usual names, such as process_cpu_seconds_total.
#ifndef REKINDLE_COMMON_METRICS_PROCESS_METRICS_H_
#define REKINDLE_COMMON_METRICS_PROCESS_METRICS_H_

#include "common/metrics/metric_samples.h"

namespace rekindle::common {

// Adds what /proc reports of this process, and leaves out what it does not report. It is thread-safe.
void AddProcessMetrics(MetricSamples& samples);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_METRICS_PROCESS_METRICS_H_

// What Prometheus knows of every process, by the names it has everywhere: process_cpu_seconds_total and others.
#ifndef REKINDLE_COMMON_PROCESS_METRICS_H_
#define REKINDLE_COMMON_PROCESS_METRICS_H_

#include "common/metric_samples.h"

namespace rekindle::common {

// What /proc tells of this process; what it does not tell is left out. Thread-safe.
void AddProcessMetrics(MetricSamples& samples);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_METRICS_H_

// Serves the worker's Prometheus metrics: what the agent does, and what its trainers report about their steps. The
// class is thread-safe.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_AGENT_METRICS_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_AGENT_METRICS_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/metrics/metrics.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/notices/judge.h"

namespace rekindle::agent {

class AgentMetrics {
 public:
  // The metrics of a trainer are dropped `kKeptSeconds` after its last report.
  static constexpr double kKeptSeconds = 600;
  // At most `kMaxTrainers` trainers have metrics of their own. If there are more, those that reported last have them.
  static constexpr size_t kMaxTrainers = 256;

  // `now` returns seconds of a steady clock and must be thread-safe.
  explicit AgentMetrics(common::TimeSource now = common::SteadySeconds);
  // Serves the metrics at http://address/metrics, or with https beyond loopback. Returns the address with the chosen
  // port.
  absl::StatusOr<std::string> Serve(const std::string& address, const common::Security& security) {
    return metrics_.Serve(address, security);
  }
  std::string Page() const { return metrics_.Page(); }

  void SetTrainers(int running) { trainers_.Set(running); }
  void SetFailedSlots(int slots) { failed_slots_.Set(slots); }
  void SetForeign(bool foreign) { foreign_.Set(foreign ? 1 : 0); }
  void CountRestart() { restarts_.Increment(); }
  void CountNotices(const std::string& source, const NoticeCounts& counts);
  // Adds what a trainer's counters grew by since `before`, which is all zeroes for its first report. The metrics are
  // labelled with job and rank, so the sums go on when another trainer takes over the rank.
  void Advance(const std::string& job, const v1::TrainerMetrics& before, const v1::TrainerMetrics& now);

 private:
  struct Said {
    // The counters in `sums` are sums over all trainers of a rank. The gauges are those of the newest report.
    v1::TrainerMetrics sums;
    double at = 0;
  };
  void AddTrainers(common::MetricSamples& samples);

  const common::TimeSource now_;
  common::Mutex mutex_;
  // `said_` has what the trainers reported, keyed by job and rank.
  std::map<std::pair<std::string, int>, Said> said_ ABSL_GUARDED_BY(mutex_);
  // The metrics page reads `said_`, the reports of the trainers, so `metrics_` has to be destroyed before `said_`.
  common::Metrics metrics_;
  prometheus::Gauge& trainers_;
  prometheus::Gauge& failed_slots_;
  prometheus::Gauge& foreign_;
  prometheus::Counter& restarts_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_AGENT_METRICS_H_

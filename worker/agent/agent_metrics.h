// The worker's Prometheus metrics: what the agent does, and what its trainers say of their steps. Thread-safe.
#ifndef REKINDLE_WORKER_AGENT_AGENT_METRICS_H_
#define REKINDLE_WORKER_AGENT_AGENT_METRICS_H_

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/metrics.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/notices/judge.h"

namespace rekindle::agent {

class AgentMetrics {
 public:
  static constexpr double kKeptSeconds = 600;  // Series of a trainer are gone so long after its last word.
  static constexpr size_t kMaxTrainers = 256;  // With series of their own; of more the ones that spoke last.

  // `now`: seconds of a steady clock. Thread-safe.
  explicit AgentMetrics(std::function<double()> now = common::SteadySeconds);
  // http://address/metrics, or beyond loopback https; returns the address with the port chosen.
  absl::StatusOr<std::string> Serve(const std::string& address, const common::Security& security) {
    return metrics_.Serve(address, security);
  }
  std::string Page() const { return metrics_.Page(); }

  void SetTrainers(int running) { trainers_.Set(running); }
  void SetForeign(bool foreign) { foreign_.Set(foreign ? 1 : 0); }
  void CountRestart() { restarts_.Increment(); }
  void CountNotices(const std::string& source, const NoticeCounts& counts);
  // Adds what a trainer's counters grew by since `before` (zeroes for its first words), labelled with job and rank: so
  // the sums go on when a trainer is replaced.
  void Advance(const std::string& job, const v1::TrainerMetrics& before, const v1::TrainerMetrics& now);

 private:
  struct Said {
    v1::TrainerMetrics sums;  // Counters are those of all trainers of that rank, gauges those of the newest words.
    double at = 0;
  };
  void AddTrainers(common::MetricSamples& samples);

  const std::function<double()> now_;
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, Said> said_;  // By job and rank.
  common::Metrics metrics_;                           // Its page asks for the others, so that it ends first.
  prometheus::Gauge& trainers_;
  prometheus::Gauge& foreign_;
  prometheus::Counter& restarts_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_AGENT_METRICS_H_

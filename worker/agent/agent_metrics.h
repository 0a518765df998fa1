// The worker's Prometheus metrics: what the agent does, and what its trainers say of their steps. Thread-safe.
#ifndef REKINDLE_WORKER_AGENT_AGENT_METRICS_H_
#define REKINDLE_WORKER_AGENT_AGENT_METRICS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/metrics.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/notices/judge.h"

namespace rekindle::agent {

class AgentMetrics {
 public:
  AgentMetrics();
  // http://address/metrics; returns the address with the port chosen.
  absl::StatusOr<std::string> Serve(const std::string& address) { return metrics_.Serve(address); }

  void SetTrainers(int running) { trainers_.Set(running); }
  void SetForeign(bool foreign) { foreign_.Set(foreign ? 1 : 0); }
  void CountRestart() { restarts_.Increment(); }
  void CountNotices(const std::string& source, const NoticeCounts& counts);
  // Adds what a trainer's counters grew by since `before` (zeroes for its first words), labelled with job and rank: so
  // the sums go on when a trainer is replaced.
  void Advance(const std::string& job, const v1::TrainerMetrics& before, const v1::TrainerMetrics& now);

 private:
  common::Metrics metrics_;
  prometheus::Gauge& trainers_;
  prometheus::Gauge& foreign_;
  prometheus::Counter& restarts_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_AGENT_METRICS_H_

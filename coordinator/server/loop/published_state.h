// Holds what code outside of the coordinator's core may know of its state, which is only what is durable.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHED_STATE_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHED_STATE_H_

#include <utility>

#include "common/agreed/cluster_identity.h"
#include "common/metrics/metrics.h"
#include "common/time/clock.h"
#include "coordinator/logs/bulletin.h"
#include "coordinator/server/boards/job_board.h"
#include "coordinator/server/boards/job_file_book.h"
#include "coordinator/server/boards/lease_book.h"
#include "coordinator/server/boards/pool_board.h"
#include "coordinator/server/metrics/job_metrics.h"

namespace rekindle::coordinator {

// The loop's thread owns the members. Other threads may use `leases` and `job_files`, which are thread-safe.
struct PublishedState {
  // `boot_clock` returns seconds and goes on while the machine sleeps.
  PublishedState(common::TimeSource boot_clock, const common::ClusterIdentity& identity, common::Metrics* metrics)
      : leases(std::move(boot_clock)), job_files(identity), job_metrics(metrics) {}

  LeaseBook leases;
  JobFileBook job_files;
  JobBoard jobs;
  PoolBoard pools;
  JobMetrics job_metrics;
  Bulletin bulletin;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHED_STATE_H_

// What the page is made of: what the coordinator's services answer. Tests have prepared answers.
#ifndef REKINDLE_COORDINATOR_WEB_SOURCE_H_
#define REKINDLE_COORDINATOR_WEB_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/job.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator::web {

using JobPointer = std::shared_ptr<const v1::Job>;

// A pool of the fleet file, or one that took orders once. Prices are of a node and hour.
struct PoolFacts {
  std::string name;
  std::string capacity;  // "spot" or "on_demand"; "unpriced": the fleet file has no such pool (any more).
  std::string instance_type;
  std::string device;
  bool ordered = false;  // Its provider takes orders.
  int min = 0;           // Nodes, where it does.
  int max = 0;
  double price = 0;
  double price_from = 0;  // Unix seconds since when it is known; 0: not known.
  bool stale = false;     // The prices are older than the fleet file allows.
  std::optional<double> on_demand;
  std::string carbon_region;        // Empty: what its nodes emit is not counted.
  std::optional<double> intensity;  // The region's carbon intensity now, g/kWh.
  v1::NeverRegistered never_registered;
};

struct PoolBook {
  std::string currency;
  std::vector<PoolFacts> pools;  // By name.
};

// Thread-safe. Errors are those of the services: NOT_FOUND, UNAVAILABLE, FAILED_PRECONDITION (superseded).
class Source {
 public:
  virtual ~Source() = default;
  virtual absl::StatusOr<std::vector<JobPointer>> Jobs() = 0;  // In no order.
  virtual absl::StatusOr<JobPointer> FindJob(const std::string& name_or_uid) = 0;
  virtual absl::StatusOr<std::vector<v1::Node>> Nodes() = 0;
  virtual absl::StatusOr<PoolBook> Pools() = 0;
  // Up to `limit` events after a revision, the oldest first; of one job by name, unless that is empty.
  virtual absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) = 0;
  virtual absl::StatusOr<int32_t> LastEvent() = 0;  // Its revision; 0: there is none.
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SOURCE_H_

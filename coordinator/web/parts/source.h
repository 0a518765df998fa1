// Provides what the web page shows, which is what the coordinator's services answer. In tests it provides prepared
// answers.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_SOURCE_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_SOURCE_H_

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

// Describes a pool of the fleet file, or a pool that took orders before it was removed from the file. Prices are per
// node and hour.
struct PoolFacts {
  std::string name;
  // `capacity` is "spot", "on_demand", or "unpriced" for a pool that is not (or no longer) in the fleet file.
  std::string capacity;
  std::string instance_type;
  std::string device;
  // `ordered` says that the pool's provider takes orders.
  bool ordered = false;
  // For a pool that takes orders, `min` and `max` limit the number of nodes.
  int min = 0;
  int max = 0;
  double price = 0;
  // `price_from` is when the price became known, in Unix seconds, or 0 if that is not known.
  double price_from = 0;
  // `stale` says that the prices are older than the fleet file allows.
  bool stale = false;
  std::optional<double> on_demand;
  // If `carbon_region` is empty, the emissions of the pool's nodes are not counted.
  std::string carbon_region;
  // `intensity` is the present carbon intensity of the pool's region, in g/kWh.
  std::optional<double> intensity;
  v1::NeverRegistered never_registered;
};

struct PoolBook {
  std::string currency;
  // `pools` is sorted by name.
  std::vector<PoolFacts> pools;
};

// Implementations of Source are thread-safe. The errors are those of the coordinator's services: NOT_FOUND, UNAVAILABLE
// and FAILED_PRECONDITION (superseded).
class Source {
 public:
  virtual ~Source() = default;
  // Returns all jobs in no particular order.
  virtual absl::StatusOr<std::vector<JobPointer>> Jobs() = 0;
  virtual absl::StatusOr<JobPointer> FindJob(const std::string& name_or_uid) = 0;
  virtual absl::StatusOr<std::vector<v1::Node>> Nodes() = 0;
  virtual absl::StatusOr<PoolBook> Pools() = 0;
  // Returns up to `limit` events with a revision above `after`, the oldest first. A `job` that is not empty selects the
  // events of the job of that name.
  virtual absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) = 0;
  // Returns the revision of the newest event, or 0 when there is none.
  virtual absl::StatusOr<int32_t> LastEvent() = 0;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_SOURCE_H_

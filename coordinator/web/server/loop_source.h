// Reads what the web page shows from the coordinator's loop, as UserService does.
#ifndef REKINDLE_COORDINATOR_WEB_SERVER_LOOP_SOURCE_H_
#define REKINDLE_COORDINATOR_WEB_SERVER_LOOP_SOURCE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coordinator/server/loop/loop.h"
#include "coordinator/web/parts/source.h"

namespace rekindle::coordinator::web {

class LoopSource final : public Source {
 public:
  // Returns the present carbon intensity by region, in g/kWh. It must be thread-safe.
  using Intensities = std::function<std::map<std::string, double>()>;

  // The caller keeps the ownership of the loop, which must outlive the LoopSource.
  LoopSource(Loop* loop, Intensities intensities) : loop_(loop), intensities_(std::move(intensities)) {}

  absl::StatusOr<std::vector<JobPointer>> Jobs() override;
  absl::StatusOr<JobPointer> FindJob(const std::string& name_or_uid) override;
  absl::StatusOr<std::vector<v1::Node>> Nodes() override;
  absl::StatusOr<PoolBook> Pools() override;
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override;
  absl::StatusOr<int32_t> LastEvent() override;

 private:
  Loop* const loop_;
  const Intensities intensities_;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SERVER_LOOP_SOURCE_H_

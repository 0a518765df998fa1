// What the page is made of, from the coordinator's loop: as UserService reads it.
#ifndef REKINDLE_COORDINATOR_WEB_LOOP_SOURCE_H_
#define REKINDLE_COORDINATOR_WEB_LOOP_SOURCE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coordinator/server/loop.h"
#include "coordinator/web/source.h"

namespace rekindle::coordinator::web {

class LoopSource final : public Source {
 public:
  // g/kWh now, by region; thread-safe.
  using Intensities = std::function<std::map<std::string, double>()>;

  // The loop is not owned, and outlives this.
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

#endif  // REKINDLE_COORDINATOR_WEB_LOOP_SOURCE_H_

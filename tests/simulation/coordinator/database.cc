#include "tests/simulation/coordinator/database.h"

#include <utility>

namespace rekindle::core::simulation {

Database::Database(const World& world) : world_(world) {
  for (const auto& [uid, job] : world.jobs) records_.jobs[uid];
}

Restored Database::Read() const {
  Restored restored;
  for (const auto& [uid, record] : records_.jobs) {
    if (records_.HasJob(uid)) restored.jobs.push_back(record);
  }
  for (const auto& [name, record] : records_.nodes) restored.nodes.push_back(record);
  for (const auto& [name, record] : records_.pools) restored.pools.push_back(record);
  restored.epoch = {epoch_, 0};
  restored.listen_first = listens_first_;
  return restored;
}

void Database::BringBack(std::map<std::string, v1::JobRecord> jobs, std::map<std::string, v1::NodeRecord> nodes) {
  records_.jobs = std::move(jobs);
  records_.nodes = std::move(nodes);
  for (const auto& [uid, job] : world_.jobs) records_.jobs[uid];
  ++epoch_;
  brought_back_at_ = world_.now();
  listens_first_ = true;
}

}  // namespace rekindle::core::simulation

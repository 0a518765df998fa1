#include "coordinator/server/boards/log_senders.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::coordinator {
namespace {

// A space separates the name of the node from the uid of the job in a key, because names and uids contain none.
std::string KeyOf(const std::string& node, const std::string& job_uid) { return absl::StrCat(node, " ", job_uid); }

bool IsOf(const v1::JobRecord& record, const std::string& node) {
  const auto& members = record.membership().members();
  return record.job().status().state() == v1::FOUND ||
         std::any_of(members.begin(), members.end(), [&](const v1::Member& member) { return member.node() == node; });
}

}  // namespace

void LogSenders::Told(const std::string& node, const v1::NodeDirective& directive) {
  for (const v1::DesiredTrainer& desired : directive.trainers()) known_.Set(KeyOf(node, desired.job_uid()), true);
}

bool LogSenders::May(const std::string& node, const std::string& job_uid, const core::Cluster& cluster) const {
  if (known_.contains(KeyOf(node, job_uid))) return true;
  // `known_` holds which nodes were told to run which jobs. It lacks jobs that an earlier process of the coordinator
  // started, so the records of jobs are asked, too.
  const v1::JobRecord* record = cluster.FindJob(job_uid);
  if (record == nullptr) return false;
  if (IsOf(*record, node)) return true;
  const std::vector<std::string> nodes = cluster.NodesOf({job_uid});
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace rekindle::coordinator

#include "coordinator/core/record/stored_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/state/job_end.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {

std::string WhyForeign(const State& state, const v1::JobFile& file) {
  const v1::ClusterIdentity& by = file.identity();
  if (state.cluster.empty() || by.cluster() != state.cluster) return "the record there is another cluster's";
  if (std::pair(by.epoch(), by.epoch_tag()) > std::pair(state.epoch.number, state.epoch.tag)) {
    return "the record there was made in a later epoch of this cluster, by another coordinator";
  }
  return "";
}

bool EndAsStored(Turn& turn, Job& job, const std::string& text) {
  if (text.empty()) return false;
  const absl::StatusOr<v1::JobFile> file = DecodeJobFile(text, job.record.job().uid());
  if (!file.ok() || !file->over() || !WhyForeign(turn.state, *file).empty()) return false;
  CountCosts(turn, job);
  const double spent = CostOf(job)->spent();
  v1::JobRecord record = FromJobFile(*file);
  record.set_secret(job.record.secret());
  job.record = std::move(record);
  job.spec_hash = 0;
  CostOf(job)->set_spent(std::max(spent, CostOf(job)->spent()));
  EndJob(
      turn, job, job.record.job().status().state(), "job_was_over",
      absl::StrCat(Bounded(file->over_reason()), "; that was after the copy that the records were brought back from"));
  job.record.mutable_job()->mutable_status()->set_finished_at(file->over_at());
  turn.Replan();
  return true;
}

}  // namespace rekindle::core

#include "coordinator/core/state/job_end.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include "absl/strings/str_cat.h"
#include "coordinator/core/state/flapping.h"

namespace rekindle::core {

void EndJob(Turn& turn, Job& job, v1::JobState state, const std::string& kind, const std::string& why) {
  const bool smoke = state == v1::FAILED && IsSmokeTest(job);
  const std::string reason = smoke ? absl::StrCat("the smoke test on one worker failed: ", why) : why;
  job.active = false;
  job.regroup.yielding = false;
  TellAllNow(turn, job);
  SetState(turn, job, state, reason);
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_last_event(reason);
  status->clear_finishing();
  job.record.clear_finishing();
  if (turn.state.wall_offset > 0) status->set_finished_at(turn.now + turn.state.wall_offset);
  job.open_faults.clear();
  turn.Save(job);
  turn.Emit(&job, kind, reason);
}

}  // namespace rekindle::core

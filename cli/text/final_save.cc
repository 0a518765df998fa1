#include "cli/text/final_save.h"

#include <algorithm>
#include <iostream>

#include "cli/text/job_costs.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "common/time/clock.h"

namespace rekindle::cli {

std::string DescribeFinalSave(const v1::JobStatus& status) {
  const v1::FinishingStatus& finishing = status.finishing();
  const double now = common::WallSeconds();
  std::string lines = "  unsaved      for " + Fixed(std::max(0.0, now - finishing.since()), 0) + " s, " +
                      std::to_string(finishing.tries()) + (finishing.tries() == 1 ? " try" : " tries") + " failed, ";
  lines += finishing.next_try() > 0 ? "the next in " + Fixed(std::max(0.0, finishing.next_try() - now), 0) + " s"
                                    : "another is under way";
  if (finishing.spent() > 0) lines += "; kept for " + Money(finishing.spent(), status.cost()) + " so far";
  return lines + "\n  save error   " + Printable(finishing.error()) + "\n";
}

void WarnIfNothingIsKept(const v1::Job& job) {
  const v1::JobSpec::Checkpoint& checkpoint = job.status().resolved_spec().checkpoint();
  const bool takes = checkpoint.every_steps() > 0 || checkpoint.has_every_seconds() || !checkpoint.interval().empty();
  if (takes && !checkpoint.store().empty()) return;
  std::cerr << "rekindle: warning: nothing of job " << job.name() << " will be kept when it ends: it takes no "
            << "checkpoints (checkpoint.every_steps is 0); set checkpoint.every_steps and checkpoint.store to keep its "
            << "result\n";
}

}  // namespace rekindle::cli

#include "tests/simulation/checks/sim_left_alone.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

// Everything that was sent before the copy was brought back has arrived after `kUnderWay` seconds.
constexpr double kUnderWay = 0.1;

}  // namespace

void LeftAloneCheck::ProcessIsStopped(const Process& process, const std::string& who) {
  const SimJob& job = *process.job;
  if (!job.submitted || coordinator_.records().HasJob(job.uid) || !In(process, process.report.generation())) return;
  if (std::max(coordinator_.database().brought_back_at(), process.frozen_until) + kUnderWay > world_.now()) return;
  journal_.Violate(absl::StrCat(process.id, " is stopped by ", who, " although there is no record of its job"));
}

}  // namespace rekindle::core::simulation

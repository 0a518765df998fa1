// Decides which reports of trainers are refused: those of a stranger, of another release, and those that are malformed.
#ifndef REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORT_CHECK_H_
#define REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORT_CHECK_H_

#include <string>

#include "coordinator/core/state/job.h"

namespace rekindle::core {

// Returns why a trainer's report is refused, and what to do. Returns an empty string where it is not refused.
std::string FindRefusal(const Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORT_CHECK_H_

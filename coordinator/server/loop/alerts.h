// Knows which events somebody should look at.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_ALERTS_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_ALERTS_H_

#include <string_view>

#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Events of the kinds `kAlertKinds` wait for a person, or tell of something that was lost. docs/costs.md lists them.
inline constexpr std::string_view kAlertKinds[] = {
    "disk_reserve_used", "disk_reserve_missing", "arithmetic_differs", "budget_alert", "budget_stop",
    "burn_rate",         "checkpoint_damaged",   "checkpoint_missing", "data_differs", "finishing",
    "final_state_lost",  "retries_stop",         "finishing_alert",    "steps_lost",   "pool_avoided",
    "pool_not_ours",     "pool_names_differ"};

bool IsAlert(const v1::Event& event);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_ALERTS_H_

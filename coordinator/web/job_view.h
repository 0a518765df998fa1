// One job as the page shows it.
#ifndef REKINDLE_COORDINATOR_WEB_JOB_VIEW_H_
#define REKINDLE_COORDINATOR_WEB_JOB_VIEW_H_

#include <string>
#include <vector>

#include "coordinator/web/speed_book.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator::web {

// {"job": Job, "says": {...}, "savings": [...], "speed": [[at, step, tokens a second, seconds a step], ...]}. `says`
// and `savings` are what `rekindle cost` and `rekindle savings` print.
std::string JobViewJson(const v1::Job& job, const std::vector<SpeedBook::Sample>& speed);

// {"events": [Event], "last": revision}, the oldest first; `after` is the revision that was asked from.
std::string EventsJson(const std::vector<v1::Event>& events, int after);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_JOB_VIEW_H_

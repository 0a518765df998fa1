// Makes the answers that show one job on the web page.
#ifndef REKINDLE_COORDINATOR_WEB_VIEWS_JOB_VIEW_H_
#define REKINDLE_COORDINATOR_WEB_VIEWS_JOB_VIEW_H_

#include <string>
#include <vector>

#include "coordinator/web/parts/speed_book.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator::web {

// Returns a job as {"job": Job, "says": {...}, "savings": [...], "speed": [[at, step, tokens per second, seconds per
// step], ...]}. `says` and `savings` are what `rekindle cost` and `rekindle savings` print.
std::string JobViewJson(const v1::Job& job, const std::vector<SpeedBook::Sample>& speed);

// Returns events as {"events": [Event], "last": revision}, the oldest event first. `after` is the revision after which
// the caller wants events.
std::string EventsJson(const std::vector<v1::Event>& events, int after);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_VIEWS_JOB_VIEW_H_

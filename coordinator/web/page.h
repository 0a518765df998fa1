// The page: its files, and what they ask for, as JSON.
//
//   /                  and the other files of page/
//   /api/summary       jobs and nodes by state, slots, what an hour costs
//   /api/jobs          a page of the list of jobs (list_query.h)
//   /api/job?name=     one job, by name or uid
//   /api/events?job=&after=   the newest events, of one job or of all
//   /api/nodes         a page of the list of nodes
//   /api/pools         pools with prices and carbon intensity
//   /api/teams         what teams have spent
#ifndef REKINDLE_COORDINATOR_WEB_PAGE_H_
#define REKINDLE_COORDINATOR_WEB_PAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/serve/page_server.h"
#include "coordinator/web/access.h"
#include "coordinator/web/answer_cache.h"
#include "coordinator/web/event_tails.h"
#include "coordinator/web/list_query.h"
#include "coordinator/web/shared.h"
#include "coordinator/web/source.h"
#include "coordinator/web/speed_book.h"

namespace rekindle::coordinator::web {

// Thread-safe.
class Page {
 public:
  struct Options {
    Access::Options access;
    std::string version;          // The program's.
    double answer_seconds = 0.5;  // An answer is the same for all who ask within so long.
  };
  // `source` is not owned and outlives the page.
  Page(Source* source, Options options);

  common::PageAnswer Handle(const common::PageRequest& request);
  // What has to be looked at every so often, whether anybody watches or not: how fast jobs are.
  void Sample();

 private:
  using Made = absl::StatusOr<std::string>;
  struct File {
    std::string content_type;
    Answer answer;
  };

  absl::StatusOr<Answer> Ask(const common::PageRequest& request);
  absl::StatusOr<Answer> List(const common::PageRequest& request, const std::vector<std::string>& sorts,
                              const std::function<Made(const ListQuery&)>& make);
  absl::StatusOr<Answer> AskEvents(const common::PageRequest& request);
  absl::StatusOr<Answer> AskJob(const common::PageRequest& request);
  Made Summary();
  Made Teams();
  Made Pools();
  absl::StatusOr<Shared<std::vector<JobPointer>>::Pointer> Jobs();
  absl::StatusOr<Shared<std::vector<v1::Node>>::Pointer> Nodes();

  Source* const source_;
  const Access access_;
  const std::string version_;
  std::map<std::string, File> files_;  // By path.
  AnswerCache answers_;
  EventTails tails_;
  SpeedBook speeds_;
  Shared<std::vector<JobPointer>> jobs_;
  Shared<std::vector<v1::Node>> nodes_;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PAGE_H_

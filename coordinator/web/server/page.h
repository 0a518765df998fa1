// Serves the web page: its files, and the JSON that they ask for.
//
//   /                  and the other files of page/
//   /api/summary       jobs and nodes by state, slots, what an hour costs
//   /api/jobs          a page of the list of jobs (list_query.h)
//   /api/job?name=     one job, by name or uid
//   /api/events?job=&after=   the newest events, of one job or of all
//   /api/nodes         a page of the list of nodes
//   /api/pools         pools with prices and carbon intensity
//   /api/teams         what teams have spent
#ifndef REKINDLE_COORDINATOR_WEB_SERVER_PAGE_H_
#define REKINDLE_COORDINATOR_WEB_SERVER_PAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/serve/page_server.h"
#include "coordinator/web/parts/access.h"
#include "coordinator/web/parts/answer_cache.h"
#include "coordinator/web/parts/event_tails.h"
#include "coordinator/web/parts/list_query.h"
#include "coordinator/web/parts/shared.h"
#include "coordinator/web/parts/source.h"
#include "coordinator/web/parts/speed_book.h"

namespace rekindle::coordinator::web {

// A Page is thread-safe.
class Page {
 public:
  struct Options {
    Access::Options access;
    // `version` is the program's version, which the page shows.
    std::string version;
    // All viewers who ask within `answer_seconds` seconds get the same answer. An answer about all jobs or all nodes is
    // kept four times as long.
    double answer_seconds = 0.5;
  };
  // The caller keeps the ownership of `source`, which must outlive the page.
  Page(Source* source, Options options);

  common::PageAnswer Handle(const common::PageRequest& request);
  // Records how fast jobs are. The caller must call Sample regularly, whether anybody watches or not.
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
  // The keys of `files_` are the paths of the page's files.
  std::map<std::string, File> files_;
  // `answers_` has the answers about one job and about events.
  AnswerCache answers_;
  // `answers_about_all_` has the answers about all jobs or all nodes.
  AnswerCache answers_about_all_;
  EventTails tails_;
  SpeedBook speeds_;
  Shared<std::vector<JobPointer>> jobs_;
  Shared<std::vector<v1::Node>> nodes_;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SERVER_PAGE_H_

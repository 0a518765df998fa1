#include "coordinator/web/server/page.h"

#include <ctime>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/time/clock.h"
#include "coordinator/web/parts/json.h"
#include "coordinator/web/parts/list_query.h"
#include "coordinator/web/server/assets.h"
#include "coordinator/web/views/job_rows.h"
#include "coordinator/web/views/job_view.h"
#include "coordinator/web/views/node_rows.h"

namespace rekindle::coordinator::web {
namespace {

constexpr char kApi[] = "/api/";
// A request with a longer name than `kMaxName` bytes is refused, because no job has such a name.
constexpr size_t kMaxName = 200;
// An answer about all jobs or all nodes costs the most, so it is kept `kAnswersAboutAll` times as long as other
// answers. The list of nodes is kept as long, because reading it takes much time of the coordinator's one thread.
constexpr double kAnswersAboutAll = 4;

// Returns headers with which the page runs only code from its own server, and no other page can show it.
const std::map<std::string, std::string>& SafeHeaders() {
  static const std::map<std::string, std::string> headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"}};
  return headers;
}

std::string HttpDate() {
  const auto now = static_cast<time_t>(common::WallSeconds());
  tm utc = {};
  gmtime_r(&now, &utc);
  char text[64];
  const size_t length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text, length};
}

int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
      return 500;
    default:
      return 503;
  }
}

common::PageAnswer ToPage(const Answer& answer, const std::string& content_type, const common::PageRequest& request) {
  common::PageAnswer page{.status = 200, .headers = {{"ETag", answer.tag}}, .content_type = content_type, .body = {}};
  if (request.Header("if-none-match") == answer.tag) {
    page.status = 304;
  } else {
    page.body = answer.body;
  }
  return page;
}

}  // namespace

Page::Page(Source* source, Options options)
    : source_(source),
      access_(std::move(options.access)),
      version_(std::move(options.version)),
      answers_(options.answer_seconds),
      answers_about_all_(kAnswersAboutAll * options.answer_seconds),
      tails_(source),
      jobs_(options.answer_seconds),
      nodes_(kAnswersAboutAll * options.answer_seconds) {
  for (const auto& [path, asset] : Assets()) {
    files_[path] = {asset.content_type,
                    {std::make_shared<const std::string>(asset.content),
                     absl::StrCat("\"", common::Xxh3_128Hex(asset.content), "\"")}};
  }
}

common::PageAnswer Page::Handle(const common::PageRequest& request) {
  const bool is_api = absl::StartsWith(request.path, kApi);
  common::PageAnswer page;
  if (auto refusal = access_.Refuse(request, is_api)) {
    page = *std::move(refusal);
  } else if (is_api) {
    const absl::StatusOr<Answer> answer = Ask(request);
    page = answer.ok() ? ToPage(*answer, "application/json", request)
                       : Refusal(StatusOf(answer.status()), std::string(answer.status().message()));
  } else if (const auto file = files_.find(request.path); file != files_.end()) {
    page = ToPage(file->second.answer, file->second.content_type, request);
  } else {
    page = Refusal(404, "there is no such page");
  }
  for (const auto& [name, value] : SafeHeaders()) page.headers[name] = value;
  page.headers["Cache-Control"] = is_api ? "no-store" : "no-cache";
  page.headers["Date"] = HttpDate();
  return page;
}

void Page::Sample() {
  if (const auto jobs = Jobs(); jobs.ok()) speeds_.Take(**jobs, common::WallSeconds());
}

absl::StatusOr<Answer> Page::Ask(const common::PageRequest& request) {
  const std::string& path = request.path;
  if (path == "/api/summary") {
    return answers_about_all_.Get(path, [this] { return Summary(); });
  }
  if (path == "/api/jobs") {
    return List(request, JobSorts(), [this](const ListQuery& query) -> Made {
      const auto jobs = Jobs();
      if (!jobs.ok()) return jobs.status();
      return JobListJson(**jobs, query);
    });
  }
  if (path == "/api/nodes") {
    return List(request, NodeSorts(), [this](const ListQuery& query) -> Made {
      const auto nodes = Nodes();
      if (!nodes.ok()) return nodes.status();
      return NodeListJson(**nodes, query);
    });
  }
  if (path == "/api/job") return AskJob(request);
  if (path == "/api/events") return AskEvents(request);
  if (path == "/api/pools") {
    return answers_about_all_.Get(path, [this] { return Pools(); });
  }
  if (path == "/api/teams") {
    return answers_about_all_.Get(path, [this] { return Teams(); });
  }
  return absl::NotFoundError("there is no such question");
}

absl::StatusOr<Answer> Page::List(const common::PageRequest& request, const std::vector<std::string>& sorts,
                                  const std::function<Made(const ListQuery&)>& make) {
  const absl::StatusOr<ListQuery> query = ListQuery::Parse(request, sorts);
  if (!query.ok()) return query.status();
  return answers_about_all_.Get(absl::StrCat(request.path, " ", query->Key()), [&] { return make(*query); });
}

absl::StatusOr<Answer> Page::AskJob(const common::PageRequest& request) {
  const std::string& name = request.Query("name");
  if (name.empty() || name.size() > kMaxName) return absl::InvalidArgumentError("name: must be a job's name or uid");
  return answers_.Get(absl::StrCat(request.path, " ", name), [&]() -> Made {
    const absl::StatusOr<JobPointer> job = source_->FindJob(name);
    if (!job.ok()) return job.status();
    return JobViewJson(**job, speeds_.Of((*job)->uid()));
  });
}

absl::StatusOr<Answer> Page::AskEvents(const common::PageRequest& request) {
  const std::string& job = request.Query("job");
  const std::string& text = request.Query("after");
  int32_t after = 0;
  if (job.size() > kMaxName) return absl::InvalidArgumentError("job: must be a job's name");
  if (!text.empty() && (!absl::SimpleAtoi(text, &after) || after < 0)) {
    return absl::InvalidArgumentError("after: must be the revision of an event");
  }
  return answers_.Get(absl::StrCat(request.path, " ", after, " ", job), [&]() -> Made {
    const absl::StatusOr<std::vector<v1::Event>> events = tails_.Newest(job, after);
    if (!events.ok()) return events.status();
    return EventsJson(*events, after);
  });
}

Page::Made Page::Summary() {
  const auto jobs = Jobs();
  if (!jobs.ok()) return jobs.status();
  const auto nodes = Nodes();
  if (!nodes.ok()) return nodes.status();
  const JobTotals of_jobs = TotalsOf(**jobs);
  const NodeTotals of_nodes = TotalsOf(**nodes);
  return Dump({{"version", version_},
               {"jobs", of_jobs.states},
               {"rate", of_jobs.rate},
               {"currency", of_jobs.currency},
               {"teams", of_jobs.teams},
               {"nodes", of_nodes.states},
               {"slots", of_nodes.slots},
               {"trainers", of_nodes.trainers}});
}

Page::Made Page::Teams() {
  const auto jobs = Jobs();
  if (!jobs.ok()) return jobs.status();
  return TeamsJson(**jobs);
}

Page::Made Page::Pools() {
  const absl::StatusOr<PoolBook> book = source_->Pools();
  if (!book.ok()) return book.status();
  const auto nodes = Nodes();
  if (!nodes.ok()) return nodes.status();
  return PoolsJson(*book, **nodes);
}

absl::StatusOr<Shared<std::vector<JobPointer>>::Pointer> Page::Jobs() {
  return jobs_.Get([this] { return source_->Jobs(); });
}

absl::StatusOr<Shared<std::vector<v1::Node>>::Pointer> Page::Nodes() {
  return nodes_.Get([this] { return source_->Nodes(); });
}

}  // namespace rekindle::coordinator::web

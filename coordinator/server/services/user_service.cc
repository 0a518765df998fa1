#include "coordinator/server/services/user_service.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/digest/random_bytes.h"
#include "common/rpc/rpc.h"
#include "coordinator/core/keeping/kept_checkpoints.h"
#include "coordinator/server/services/event_feed.h"
#include "coordinator/server/services/job_list.h"
#include "coordinator/server/services/job_watch.h"
#include "coordinator/server/services/stream.h"
#include "coordinator/server/services/sync_services.h"

namespace rekindle::coordinator {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1000;
// A page of a list must stay below the size limit of a message.
constexpr size_t kPageBytes = 3 << 20;
constexpr size_t kMaxRequestIdBytes = 128;
constexpr size_t kMaxReasonBytes = 1000;
constexpr size_t kMaxOwnerBytes = 128;
constexpr size_t kMaxStoreBytes = 4096;

absl::Status CheckRequestId(const std::string& id) {
  bool valid = id.size() <= kMaxRequestIdBytes;
  for (const char c : id) valid = valid && absl::ascii_isgraph(static_cast<unsigned char>(c));
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("request_id: must be at most ", kMaxRequestIdBytes, " visible ASCII characters"));
}

template <typename Request>
std::string CallOf(const char* method, Request request) {
  request.clear_request_id();
  return absl::StrCat(method, "/", common::Xxh3_128Hex(request.SerializeAsString()));
}

grpc::ServerUnaryReactor* Refuse(grpc::ServerUnaryReactor* reactor, const absl::Status& status) {
  reactor->Finish(common::StatusToGrpc(status));
  return reactor;
}

// Returns a function that parses the loop's serialized answer into the reply and finishes the call.
template <typename Reply>
auto ParseInto(grpc::ServerUnaryReactor* reactor, Reply* reply) {
  return [reactor, reply](absl::StatusOr<std::string> answer) {
    absl::Status status = answer.status();
    if (answer.ok() && !reply->ParseFromString(*answer)) status = absl::DataLossError("the stored answer is damaged");
    reactor->Finish(common::StatusToGrpc(status));
  };
}

// Runs `read` on the loop's thread, and finishes the user's call with the status that `read` returns.
template <typename Read>
grpc::ServerUnaryReactor* Answer(Loop* loop, grpc::ServerUnaryReactor* reactor, Read read) {
  const absl::Status posted = loop->inbox().Post([reactor, read] { reactor->Finish(common::StatusToGrpc(read())); });
  return posted.ok() ? reactor : Refuse(reactor, posted);
}

absl::StatusOr<int> PageSize(int asked) {
  if (asked < 0 || asked > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat("page_size: ", asked, " is out of range: use 1 to ", kLargestPage));
  }
  return asked == 0 ? kDefaultPage : asked;
}

// Returns a function that pulls from a Feed made of the arguments. All copies of the function share one Feed, because
// std::function copies what it holds.
template <typename Feed, typename... Arguments>
auto Pulling(Arguments&&... arguments) {
  return [feed = std::make_shared<Feed>(std::forward<Arguments>(arguments)...)] { return (*feed)(); };
}

}  // namespace

UserService::UserService(Loop* loop, common::Metrics* metrics, Options options)
    : loop_(loop), metrics_(metrics), options_(std::move(options)), intake_(loop, options_.intake) {}

void UserService::Count(const char* method) { CallCounter(metrics_, absl::StrCat("Coordinator.", method)).Increment(); }

absl::StatusOr<std::string> UserService::FindUid(const std::string& name_or_uid) const {
  const v1::JobRecord* record = loop_->cluster().FindJob(name_or_uid);
  if (record == nullptr) return NoJob(name_or_uid);
  return record->job().uid();
}

absl::StatusOr<std::string> UserService::AnswerJob(const std::string& name_or_uid) const {
  const v1::JobRecord* record = loop_->cluster().FindJob(name_or_uid);
  if (record == nullptr) return NoJob(name_or_uid);
  return record->job().SerializeAsString();
}

absl::StatusOr<std::string> UserService::AnswerNode(const std::string& name) const {
  const std::optional<v1::Node> node = loop_->cluster().FindNode(loop_->core_now(), name);
  if (node) return node->SerializeAsString();
  return absl::NotFoundError(absl::StrCat("no node is named ", name, "; `rekindle nodes` lists all"));
}

grpc::ServerUnaryReactor* UserService::SubmitJob(Context* context, const v1::SubmitJobRequest* request,
                                                 v1::Job* reply) {
  Count("SubmitJob");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status valid = CheckRequestId(request->request_id());
  if (request->owner().size() > kMaxOwnerBytes) {
    valid.Update(absl::InvalidArgumentError(absl::StrCat("owner: at most ", kMaxOwnerBytes, " bytes")));
  }
  if (!valid.ok()) return Refuse(reactor, valid);
  // A repeated request gets its first answer even when the files of its job are gone by now. So a job that is refused
  // because of its files is still handed to the loop, which knows the first answer.
  const std::string uid = absl::BytesToHexString(common::RandomBytes(16));
  loop_->inbox().Apply({request->request_id(), CallOf("SubmitJob", *request),
                        [this, candidate = intake_.Prepare(request->job()), owner = request->owner(),
                         uid]() -> absl::StatusOr<core::Event> {
                          absl::StatusOr<v1::JobRecord> record = intake_.Admit(candidate, uid);
                          if (!record.ok()) return record.status();
                          record->mutable_job()->mutable_status()->set_owner(owner);
                          return core::SubmitJob{*std::move(record)};
                        },
                        [this, uid] { return AnswerJob(uid); }, ParseInto(reactor, reply)});
  return reactor;
}

grpc::ServerUnaryReactor* UserService::PutBundle(Context* context, const v1::PutBundleRequest* request,
                                                 v1::PutBundleReply* reply) {
  Count("PutBundle");
  return options_.bundles->Put(context, request, reply);
}

grpc::ServerUnaryReactor* UserService::ValidateJob(Context* context, const v1::ValidateJobRequest* request,
                                                   v1::Job* reply) {
  Count("ValidateJob");
  return Answer(loop_, context->DefaultReactor(),
                [this, candidate = intake_.Prepare(request->job()), reply]() -> absl::Status {
                  if (absl::Status none = loop_->WhyNoChange(); !none.ok()) return none;
                  if (const auto record = intake_.Admit(candidate, ""); !record.ok()) return record.status();
                  reply->set_name(candidate.job.name());
                  *reply->mutable_spec() = candidate.job.spec();
                  *reply->mutable_status()->mutable_resolved_spec() = candidate.resolved;
                  return absl::OkStatus();
                });
}

grpc::ServerUnaryReactor* UserService::GetJob(Context* context, const v1::GetJobRequest* request, v1::Job* reply) {
  Count("GetJob");
  return Answer(loop_, context->DefaultReactor(), [this, request, reply] {
    const JobBoard::JobPointer job = loop_->jobs().Find(request->job());
    if (job == nullptr) return NoJob(request->job());
    *reply = *job;
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* UserService::ListJobs(Context* context, const v1::ListJobsRequest* request,
                                                v1::ListJobsReply* reply) {
  Count("ListJobs");
  return Answer(loop_, context->DefaultReactor(), [this, request, reply]() -> absl::Status {
    const absl::StatusOr<int> page = PageSize(request->page_size());
    if (!page.ok()) return page.status();
    const std::vector<std::string>& order = loop_->jobs().order();
    auto at = order.begin();
    if (!request->page_token().empty()) {
      at = std::find(order.begin(), order.end(), request->page_token());
      if (at == order.end()) return absl::InvalidArgumentError("page_token: unknown: start without one");
      ++at;
    }
    size_t bytes = 0;
    for (; at != order.end() && reply->jobs_size() < *page; ++at) {
      const JobBoard::JobPointer job = loop_->jobs().Find(*at);
      if (!IsListed(*job, *request)) continue;
      v1::Job* row = reply->add_jobs();
      *row = request->brief() ? BriefOf(*job) : *job;
      bytes += row->ByteSizeLong();
      if (bytes <= kPageBytes || reply->jobs_size() == 1) continue;
      reply->mutable_jobs()->RemoveLast();
      break;
    }
    if (at != order.end()) reply->set_next_page_token(reply->jobs(reply->jobs_size() - 1).uid());
    return absl::OkStatus();
  });
}

template <typename Verb>
grpc::ServerUnaryReactor* UserService::ChangeJob(const char* method, Context* context, const v1::JobRequest& request,
                                                 v1::Job* reply) {
  Count(method);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (absl::Status id = CheckRequestId(request.request_id()); !id.ok()) return Refuse(reactor, id);
  loop_->inbox().Apply({request.request_id(), CallOf(method, request),
                        [this, request]() -> absl::StatusOr<core::Event> {
                          absl::StatusOr<std::string> uid = FindUid(request.job());
                          if (!uid.ok()) return uid.status();
                          Verb verb{*std::move(uid)};
                          if constexpr (std::is_same_v<Verb, core::CancelJob>) verb.discard = request.discard();
                          if constexpr (std::is_same_v<Verb, core::ResumeJob>) {
                            verb.budget = request.budget();
                            verb.from = request.from();
                            verb.confirmed = request.confirmed();
                            verb.store = request.store();
                            verb.old_is_gone = request.old_is_gone();
                            // A job that has failed is not active, and becomes so by this verb.
                            const v1::JobState state = loop_->cluster().FindJob(verb.uid)->job().status().state();
                            if (state == v1::FAILED) {
                              if (absl::Status room = intake_.CheckRoom(); !room.ok()) return room;
                            }
                          }
                          return verb;
                        },
                        [this, name = request.job()] { return AnswerJob(name); }, ParseInto(reactor, reply)});
  return reactor;
}

grpc::ServerUnaryReactor* UserService::CancelJob(Context* context, const v1::JobRequest* request, v1::Job* reply) {
  return ChangeJob<core::CancelJob>("CancelJob", context, *request, reply);
}
grpc::ServerUnaryReactor* UserService::PauseJob(Context* context, const v1::JobRequest* request, v1::Job* reply) {
  return ChangeJob<core::PauseJob>("PauseJob", context, *request, reply);
}
grpc::ServerUnaryReactor* UserService::AdoptJob(Context* context, const v1::JobRequest* request, v1::Job* reply) {
  return ChangeJob<core::AdoptJob>("AdoptJob", context, *request, reply);
}
// ForgetJob copies the job before the job is forgotten, because the answer contains the job.
grpc::ServerUnaryReactor* UserService::ForgetJob(Context* context, const v1::JobRequest* request,
                                                 v1::ForgetJobReply* reply) {
  Count("ForgetJob");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (absl::Status id = CheckRequestId(request->request_id()); !id.ok()) return Refuse(reactor, id);
  auto was = std::make_shared<v1::ForgetJobReply>();
  loop_->inbox().Apply({request->request_id(), CallOf("ForgetJob", *request),
                        [this, was, name = request->job()]() -> absl::StatusOr<core::Event> {
                          const v1::JobRecord* record = loop_->cluster().FindJob(name);
                          if (record == nullptr) return NoJob(name);
                          *was->mutable_job() = record->job();
                          was->set_checkpoints(core::CheckpointsOf(*record));
                          return core::ForgetJob{record->job().uid()};
                        },
                        [was]() -> absl::StatusOr<std::string> { return was->SerializeAsString(); },
                        ParseInto(reactor, reply)});
  return reactor;
}
grpc::ServerUnaryReactor* UserService::ResumeJob(Context* context, const v1::JobRequest* request, v1::Job* reply) {
  if (!(request->budget() >= 0 && std::isfinite(request->budget()))) {
    return Refuse(context->DefaultReactor(),
                  absl::InvalidArgumentError("budget: must be above 0, or left out to keep it as it is"));
  }
  if (request->store().size() > kMaxStoreBytes) {
    return Refuse(context->DefaultReactor(),
                  absl::InvalidArgumentError(absl::StrCat("store: at most ", kMaxStoreBytes, " bytes")));
  }
  if (!request->store().empty()) {
    if (absl::Status store = CheckStoreUri("store", request->store(), options_.intake.reach); !store.ok()) {
      return Refuse(context->DefaultReactor(), store);
    }
  }
  return ChangeJob<core::ResumeJob>("ResumeJob", context, *request, reply);
}

grpc::ServerUnaryReactor* UserService::ListNodes(Context* context, const v1::ListNodesRequest* request,
                                                 v1::ListNodesReply* reply) {
  Count("ListNodes");
  return Answer(loop_, context->DefaultReactor(), [this, request, reply]() -> absl::Status {
    const absl::StatusOr<int> page = PageSize(request->page_size());
    if (!page.ok()) return page.status();
    // One node more than fits the page is read. If there is one, the reply says that another page follows.
    const auto limit = static_cast<size_t>(*page) + 1;
    for (v1::Node& node : loop_->cluster().Nodes(loop_->core_now(), request->page_token(), limit)) {
      if (reply->nodes_size() == *page) {
        reply->set_next_page_token(reply->nodes(*page - 1).name());
        break;
      }
      *reply->add_nodes() = std::move(node);
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* UserService::ListPools(Context* context, const v1::ListPoolsRequest*,
                                                 v1::ListPoolsReply* reply) {
  Count("ListPools");
  return Answer(loop_, context->DefaultReactor(), [this, reply]() -> absl::Status {
    const core::PriceBook& prices = loop_->cluster().Prices();
    reply->set_currency(prices.currency);
    for (const auto& [name, record] : loop_->pools().pools()) {
      v1::ListPoolsReply::Pool* pool = reply->add_pools();
      pool->set_name(name);
      *pool->mutable_never_registered() = record.never_registered();
      *pool->mutable_of_no_job() = record.of_no_job();
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* UserService::DrainNode(Context* context, const v1::DrainNodeRequest* request,
                                                 v1::Node* reply) {
  Count("DrainNode");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status valid = CheckRequestId(request->request_id());
  if (!(request->within_seconds() >= 0 && std::isfinite(request->within_seconds()))) {
    valid.Update(absl::InvalidArgumentError("within_seconds: must be 0 (no limit) or more"));
  }
  if (request->reason().size() > kMaxReasonBytes) {
    valid.Update(absl::InvalidArgumentError(absl::StrCat("reason: at most ", kMaxReasonBytes, " bytes")));
  }
  if (!valid.ok()) return Refuse(reactor, valid);
  const core::DrainNode drain{request->node(), request->within_seconds(),
                              request->reason().empty() ? "asked by the user" : request->reason()};
  loop_->inbox().Apply({request->request_id(), CallOf("DrainNode", *request), [drain] { return core::Event(drain); },
                        [this, node = drain.node] { return AnswerNode(node); }, ParseInto(reactor, reply)});
  return reactor;
}

grpc::ServerUnaryReactor* UserService::UndrainNode(Context* context, const v1::UndrainNodeRequest* request,
                                                   v1::Node* reply) {
  Count("UndrainNode");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (absl::Status valid = CheckRequestId(request->request_id()); !valid.ok()) return Refuse(reactor, valid);
  loop_->inbox().Apply({request->request_id(), CallOf("UndrainNode", *request),
                        [node = request->node()] { return core::Event(core::UndrainNode{node}); },
                        [this, node = request->node()] { return AnswerNode(node); }, ParseInto(reactor, reply)});
  return reactor;
}

grpc::ServerUnaryReactor* UserService::NodeGone(Context* context, const v1::NodeGoneRequest* request,
                                                v1::NodeGoneReply* reply) {
  Count("NodeGone");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (absl::Status valid = CheckRequestId(request->request_id()); !valid.ok()) return Refuse(reactor, valid);
  loop_->inbox().Apply({request->request_id(), CallOf("NodeGone", *request),
                        [node = request->node()] { return core::Event(core::NodeGone{node}); },
                        []() -> absl::StatusOr<std::string> { return v1::NodeGoneReply().SerializeAsString(); },
                        ParseInto(reactor, reply)});
  return reactor;
}

grpc::ServerUnaryReactor* UserService::SetMarket(Context* context, const v1::SetMarketRequest* request,
                                                 v1::SetMarketReply*) {
  Count("SetMarket");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(common::StatusToGrpc(
      options_.set_market ? options_.set_market(*request)
                          : absl::FailedPreconditionError("the fleet file has no local pool with `machines`")));
  return reactor;
}

grpc::ServerWriteReactor<v1::Job>* UserService::WatchJob(Context* context, const v1::WatchJobRequest* request) {
  Count("WatchJob");
  return Stream<v1::Job>::Start(context, loop_, Pulling<JobWatch>(loop_, request->job()));
}

grpc::ServerWriteReactor<v1::Event>* UserService::ListEvents(Context* context, const v1::ListEventsRequest* request) {
  Count("ListEvents");
  return Stream<v1::Event>::Start(context, loop_, Pulling<EventFeed>(loop_, *request));
}

grpc::ServerWriteReactor<v1::LogLines>* UserService::ReadLog(Context* context, const v1::ReadLogRequest* request) {
  Count("ReadLog");
  return options_.logs->Read(context, *request);
}

grpc::ServerWriteReactor<v1::BackupChunk>* UserService::Backup(Context* context, const v1::BackupRequest*) {
  Count("Backup");
  return options_.backups->Start(context);
}

}  // namespace rekindle::coordinator

#include "coordinator/server/services/sync_services.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/rpc/rpc.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxNameBytes = 512;

// Checks a name in a report, such as the name of a node. Names become keys of the store and parts of log lines, so only
// visible ASCII is allowed.
absl::Status CheckName(const char* field, const std::string& name) {
  bool valid = !name.empty() && name.size() <= kMaxNameBytes;
  for (const char c : name) valid = valid && absl::ascii_isgraph(static_cast<unsigned char>(c));
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": must be 1 to ", kMaxNameBytes, " visible ASCII characters"));
}

// Returns the host of a peer, which gRPC names as "ipv4:10.0.0.12:5555" or "ipv6:%5B::1%5D:5555". Returns "" for a peer
// that has none.
std::string HostOf(const std::string& peer) {
  const size_t begin = peer.find(':'), end = peer.rfind(':');
  if (begin == std::string::npos || end <= begin || !absl::StartsWith(peer, "ipv")) return "";
  return absl::StrReplaceAll(peer.substr(begin + 1, end - begin - 1), {{"%5B", ""}, {"%5D", ""}});
}

void FillJobFile(JobFileBook& book, const v1::RenewLeaseRequest& request, v1::RenewLeaseReply* reply) {
  const std::shared_ptr<const JobFileBook::File> file = book.Newest(request.job_uid(), request.job_secret());
  if (file == nullptr) return;
  reply->set_job_file_digest(file->digest);
  reply->set_job_is_over(file->over);
  if (file->digest != request.job_file_digest()) reply->set_job_file(file->text);
}

// Returns a function that moves the loop's answer into the reply. The reactor and the reply live until Finish. A
// superseded coordinator finishes the call with OK, because the caller has to learn from the reply that it was
// superseded.
template <typename Directive>
auto Finisher(const Voice* voice, grpc::ServerUnaryReactor* reactor, Directive* directive) {
  return [voice, reactor, directive](absl::StatusOr<Directive> answer) {
    if (answer.ok()) *directive = *std::move(answer);
    voice->Sign(directive);
    reactor->Finish(voice->superseded() ? grpc::Status::OK : common::StatusToGrpc(answer.status()));
  };
}

}  // namespace

prometheus::Counter& CallCounter(common::Metrics* metrics, const std::string& method) {
  return metrics->Counter("rekindle_rpcs_total", "Calls received.", {{"method", method}});
}

TrainersService::TrainersService(Loop* loop, Voice* voice, common::Metrics* metrics)
    : loop_(loop),
      voice_(voice),
      calls_(CallCounter(metrics, "Trainers.Sync")),
      renewals_(CallCounter(metrics, "Trainers.RenewLease")) {}

grpc::ServerUnaryReactor* TrainersService::RenewLease(grpc::CallbackServerContext* context,
                                                      const v1::RenewLeaseRequest* request,
                                                      v1::RenewLeaseReply* reply) {
  renewals_.Increment();
  if (voice_->MayTell(request->job_uid(), request->obeys())) {
    reply->set_stands(
        loop_->leases().Answer(request->job_uid(), request->generation(), request->digest(), request->job_secret()));
    const std::optional<double> seconds = loop_->leases().SpendSeconds(request->job_uid());
    if (seconds) reply->set_spend_seconds(*seconds);
    if (request->wants_job_file()) FillJobFile(loop_->job_files(), *request, reply);
  }
  voice_->Sign(reply);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* TrainersService::Sync(grpc::CallbackServerContext* context, const v1::TrainerReport* report,
                                                v1::TrainerDirective* directive) {
  calls_.Increment();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status named = CheckName("job_uid", report->job_uid());
  named.Update(CheckName("trainer", report->trainer()));
  named.Update(CheckName("node", report->node()));
  if (!named.ok()) {
    reactor->Finish(common::StatusToGrpc(named));
    return reactor;
  }
  if (!voice_->MayTell(report->trainer(), report->obeys())) {
    voice_->Sign(directive);
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  v1::TrainerReport heard = *report;
  if (voice_->IsNewsTo(report->obeys())) heard.set_wait_ms(0);
  loop_->inbox().Sync(std::move(heard), Finisher(voice_, reactor, directive));
  return reactor;
}

NodesService::NodesService(Loop* loop, Voice* voice, LogStreams* logs, BundleDesk* bundles, common::Metrics* metrics)
    : loop_(loop),
      voice_(voice),
      logs_(logs),
      bundles_(bundles),
      calls_(CallCounter(metrics, "Nodes.Sync")),
      log_reports_(CallCounter(metrics, "Nodes.KeepLines")),
      bundle_pieces_(CallCounter(metrics, "Nodes.GetBundle")) {}

grpc::ServerUnaryReactor* NodesService::GetBundle(grpc::CallbackServerContext* context,
                                                  const v1::GetBundleRequest* request, v1::GetBundleReply* reply) {
  bundle_pieces_.Increment();
  absl::Status status = CheckName("node", request->node());
  status.Update(CheckName("incarnation", request->incarnation()));
  if (status.ok() && !voice_->MayTell(request->node(), request->obeys())) {
    status = absl::FailedPreconditionError("the node obeys another coordinator than this one");
  }
  if (status.ok()) return bundles_->Get(context, request, reply);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(common::StatusToGrpc(status));
  return reactor;
}

grpc::ServerUnaryReactor* NodesService::KeepLines(grpc::CallbackServerContext* context, const v1::LogReport* report,
                                                  v1::LogReply* reply) {
  log_reports_.Increment();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status status = CheckName("node", report->node());
  status.Update(CheckName("incarnation", report->incarnation()));
  if (status.ok() && !voice_->MayTell(report->node(), report->obeys())) {
    status = absl::FailedPreconditionError("the node obeys another coordinator than this one");
  }
  if (status.ok()) {
    logs_->Keep(report, reply, reactor);
  } else {
    reactor->Finish(common::StatusToGrpc(status));
  }
  return reactor;
}

grpc::ServerUnaryReactor* NodesService::Sync(grpc::CallbackServerContext* context, const v1::NodeReport* report,
                                             v1::NodeDirective* directive) {
  calls_.Increment();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status named = CheckName("node", report->node());
  if (!report->agent_incarnation().empty()) named.Update(CheckName("agent_incarnation", report->agent_incarnation()));
  if (!named.ok()) {
    reactor->Finish(common::StatusToGrpc(named));
    return reactor;
  }
  if (!voice_->MayTell(report->node(), report->obeys())) {
    voice_->Sign(directive);
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  v1::NodeReport heard = *report;
  heard.set_heard_at(HostOf(context->peer()));
  if (voice_->IsNewsTo(report->obeys())) heard.set_wait_ms(0);
  loop_->inbox().Sync(std::move(heard), Finisher(voice_, reactor, directive),
                      [context] { return !context->IsCancelled(); });
  return reactor;
}

}  // namespace rekindle::coordinator

#include "coordinator/server/sync_services.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/rpc.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxNameBytes = 512;

// Names become keys of the store and parts of log lines.
absl::Status CheckName(const char* field, const std::string& name) {
  bool valid = !name.empty() && name.size() <= kMaxNameBytes;
  for (const char c : name) valid = valid && absl::ascii_isgraph(static_cast<unsigned char>(c));
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": must be 1 to ", kMaxNameBytes, " visible ASCII characters"));
}

// Moves the loop's answer into the reply. The reactor and the reply live until Finish.
template <typename Directive>
auto Finisher(grpc::ServerUnaryReactor* reactor, Directive* directive) {
  return [reactor, directive](absl::StatusOr<Directive> answer) {
    if (answer.ok()) *directive = *std::move(answer);
    reactor->Finish(common::StatusToGrpc(answer.status()));
  };
}

}  // namespace

prometheus::Counter& CallCounter(common::Metrics* metrics, const std::string& method) {
  return metrics->Counter("rekindle_rpcs_total", "Calls received.", {{"method", method}});
}

TrainersService::TrainersService(Loop* loop, common::Metrics* metrics)
    : loop_(loop), calls_(CallCounter(metrics, "Trainers.Sync")) {}

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
  loop_->Sync(*report, Finisher(reactor, directive));
  return reactor;
}

NodesService::NodesService(Loop* loop, common::Metrics* metrics)
    : loop_(loop), calls_(CallCounter(metrics, "Nodes.Sync")) {}

grpc::ServerUnaryReactor* NodesService::Sync(grpc::CallbackServerContext* context, const v1::NodeReport* report,
                                             v1::NodeDirective* directive) {
  calls_.Increment();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (const absl::Status named = CheckName("node", report->node()); !named.ok()) {
    reactor->Finish(common::StatusToGrpc(named));
    return reactor;
  }
  loop_->Sync(*report, Finisher(reactor, directive));
  return reactor;
}

}  // namespace rekindle::coordinator

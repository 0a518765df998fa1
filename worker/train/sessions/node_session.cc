#include "worker/train/sessions/node_session.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "common/log/log.h"
#include "common/process/process.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node_local.grpc.pb.h"

namespace rekindle::train {
namespace {

constexpr auto kAttachEvery = std::chrono::seconds(1);
constexpr auto kCallDeadline = std::chrono::seconds(2);

class Session final : public NodeSession {
 public:
  Session(std::shared_ptr<grpc::Channel> channel, NodeSessionOptions options, const MetricsBoard& metrics,
          std::function<void(const std::string&)> on_stop)
      : options_(std::move(options)),
        metrics_(metrics),
        on_stop_(std::move(on_stop)),
        stub_(v1::NodeLocal::NewStub(channel)),
        thread_([this](std::stop_token stop) { Loop(stop); }) {}

 private:
  v1::AttachRequest Request() const {
    v1::AttachRequest request;
    request.set_trainer(options_.trainer);
    request.set_job_uid(options_.job_uid);
    request.set_job_secret(options_.job_secret);
    request.set_pid(getpid());
    if (const auto self = common::Identify(getpid()); self.ok()) {
      request.set_start_time_ticks(static_cast<double>(self->start_time_ticks));
    }
    const TrainerMetrics metrics = metrics_.Read();
    v1::TrainerMetrics* out = request.mutable_metrics();
    out->set_job(options_.job_name);
    out->set_rank(metrics.rank);
    out->set_generation(metrics.generation);
    out->set_steps(metrics.steps);
    out->set_tokens(metrics.tokens);
    out->set_data_seconds(metrics.data_seconds);
    out->set_compute_seconds(metrics.compute_seconds);
    out->set_reduce_seconds(metrics.reduce_seconds);
    out->set_optimizer_seconds(metrics.optimizer_seconds);
    out->set_stall_seconds(metrics.stall_seconds);
    out->set_checkpoint_stall_seconds(metrics.checkpoint_stall_seconds);
    out->set_micro_batches_redone(metrics.micro_batches_redone);
    out->set_step_seconds(metrics.step_seconds);
    out->set_micro_batches(metrics.micro_batches);
    request.set_at_rest(!metrics.works);
    request.set_keeps_final_state(metrics.keeps_final_state);
    return request;
  }

  void Loop(std::stop_token stop) {
    common::Mutex mutex;
    common::CondVar tick;
    common::MutexLock lock(mutex);
    do {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
      std::stop_callback cancel(stop, [&] { context.TryCancel(); });
      v1::AttachReply reply;
      const grpc::Status status = stub_->Attach(&context, Request(), &reply);
      if (status.ok() && reply.stop()) {
        log::Info("the agent wants this trainer to stop", {{"reason", reply.reason()}});
        on_stop_(reply.reason());
      }
    } while (!tick.WaitFor(lock, stop, kAttachEvery, [&] { return stop.stop_requested(); }));
  }

  const NodeSessionOptions options_;
  const MetricsBoard& metrics_;
  const std::function<void(const std::string&)> on_stop_;
  const std::unique_ptr<v1::NodeLocal::Stub> stub_;
  std::jthread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeSession>> AttachToNode(NodeSessionOptions options, const MetricsBoard& metrics,
                                                          std::function<void(const std::string& reason)> on_stop) {
  auto channel = common::Connect("unix:" + options.socket);
  if (!channel.ok()) return channel.status();
  return std::make_unique<Session>(*std::move(channel), std::move(options), metrics, std::move(on_stop));
}

}  // namespace rekindle::train

// Makes many calls to a server at once, for benches that load it. A lane makes one call after the other.
#ifndef REKINDLE_BENCH_COORDINATOR_CALL_LANES_H_
#define REKINDLE_BENCH_COORDINATOR_CALL_LANES_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/rpc/local_token.h"
#include "common/rpc/rpc_security.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::bench {

// Opens a connection to the coordinator that is not shared with the process's other channels. The calls carry the token
// of the coordinator if it has one. They do not verify who listens, because that would cost more than the call.
inline std::shared_ptr<grpc::Channel> Connect(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto token = common::FindToken(std::atoi(endpoint.substr(endpoint.rfind(':') + 1).c_str()));
  if (!token.ok()) return grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
  return grpc::CreateCustomChannel(
      endpoint,
      grpc::CompositeChannelCredentials(grpc::experimental::LocalCredentials(LOCAL_TCP), common::SendToken(*token)),
      arguments);
}

// Counts the calls of all lanes and prints their number, failures and 99th percentile of the latency.
class Load {
 public:
  void Ended(bool ok, double seconds) {
    const common::MutexLock lock(mutex_);
    ok ? ++calls_ : ++failed_;
    latencies_.push_back(seconds);
  }
  void Print(double seconds) {
    const common::MutexLock lock(mutex_);
    double p99 = 0;
    if (!latencies_.empty()) {
      const auto at = latencies_.begin() + static_cast<std::ptrdiff_t>(latencies_.size() * 99 / 100);
      std::nth_element(latencies_.begin(), at, latencies_.end());
      p99 = *at;
    }
    std::printf("%s\n",
                nlohmann::json{{"calls", calls_}, {"seconds", seconds}, {"failed", failed_}, {"p99_seconds", p99}}
                    .dump()
                    .c_str());
  }
  int calls() const {
    const common::MutexLock lock(mutex_);
    return calls_;
  }

 private:
  mutable common::Mutex mutex_;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int failed_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<double> latencies_ ABSL_GUARDED_BY(mutex_);
};

// Makes calls of one kind, one after the other: each starts when the one before has ended. `Start` starts one
// asynchronous call.
template <typename Request, typename Reply>
class Lane {
 public:
  using Start = std::function<void(grpc::ClientContext*, const Request*, Reply*, std::function<void(grpc::Status)>)>;
  // Fills in the request to send after the reply `last`, which is empty at first. Returns false if nothing more is to
  // be sent.
  using Next = std::function<bool(const Reply& last, Request*)>;

  Lane(Load& load, Start start, Next next) : load_(load), start_(std::move(start)), next_(std::move(next)) {}
  void Go() {
    if (!next_(reply_, &request_)) {
      done_ = true;
      done_.notify_one();
      return;
    }
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const double begun = common::SteadySeconds();
    start_(context_.get(), &request_, &reply_, [this, begun](grpc::Status status) {
      load_.Ended(status.ok(), common::SteadySeconds() - begun);
      if (!status.ok()) std::fprintf(stderr, "%s\n", status.error_message().c_str());
      Go();
    });
  }
  void Await() const { done_.wait(false); }

 private:
  Load& load_;
  const Start start_;
  const Next next_;
  Request request_;
  Reply reply_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::atomic<bool> done_{false};
};

template <typename Request, typename Reply>
double RunLanes(std::vector<std::unique_ptr<Lane<Request, Reply>>>& lanes) {
  const double begun = common::SteadySeconds();
  for (auto& lane : lanes) lane->Go();
  for (auto& lane : lanes) lane->Await();
  return common::SteadySeconds() - begun;
}

}  // namespace rekindle::bench

#endif  // REKINDLE_BENCH_COORDINATOR_CALL_LANES_H_

// Implements the coordinator's Nodes service for the agent's tests. It answers an agent's call after the time that the
// service's documentation says, with a directive that the test sets, and lets the test wait for a report. The class is
// thread-safe.
#ifndef REKINDLE_WORKER_AGENT_TESTING_FAKE_COORDINATOR_H_
#define REKINDLE_WORKER_AGENT_TESTING_FAKE_COORDINATOR_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::agent {

class FakeCoordinator final : public v1::Nodes::Service {
 public:
  ~FakeCoordinator() override { Stop(); }

  // Starts to serve. The port stays the same when the fake coordinator is stopped and started again.
  absl::Status Start() {
    {
      const common::MutexLock lock(mutex_);
      stopping_ = false;
    }
    auto server = common::Server::Start({.listen = "127.0.0.1:" + std::to_string(port_), .security = {}}, {this});
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    port_ = server_->port();
    return absl::OkStatus();
  }
  void Stop() {
    {
      const common::MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    server_.reset();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Sets the directive of the next answers, with a new revision.
  void Direct(v1::NodeDirective directive) {
    {
      const common::MutexLock lock(mutex_);
      directive.set_revision(directive_.revision() + 1);
      directive_ = std::move(directive);
    }
    changed_.NotifyAll();
  }
  v1::NodeDirective directive() const {
    const common::MutexLock lock(mutex_);
    return directive_;
  }

  using Predicate = std::function<bool(const v1::NodeReport&)>;
  // Returns the first report for which `fits` returns true, from the newest received one on. Returns nothing if none
  // comes in time.
  std::optional<v1::NodeReport> WaitFor(const Predicate& fits) {
    common::MutexLock lock(mutex_);
    return WaitFrom(lock, reports_.empty() ? 0 : reports_.size() - 1, fits);
  }
  // Returns the first report for which `fits` returns true, after the first `from` ones. Returns nothing if none comes
  // in time.
  std::optional<v1::NodeReport> WaitFor(size_t from, const Predicate& fits) {
    common::MutexLock lock(mutex_);
    return WaitFrom(lock, from, fits);
  }
  // Returns the time at which the report that WaitFor returned last was received, in steady seconds.
  double found_at() const {
    const common::MutexLock lock(mutex_);
    return found_at_;
  }
  std::vector<v1::NodeReport> reports() const {
    const common::MutexLock lock(mutex_);
    std::vector<v1::NodeReport> all;
    for (const Received& received : reports_) all.push_back(received.report);
    return all;
  }

  // Returns true once `line` has arrived in the trainer's log, and false if it does not arrive in time.
  bool WaitLine(const std::string& trainer, const std::string& line) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(20), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      const std::vector<std::string>& lines = logs_[trainer].lines;
      return std::find(lines.begin(), lines.end(), line) != lines.end();
    });
  }

  // Keeps log lines by the coordinator's rule: a piece counts only if it begins where the kept lines of its trainer
  // end.
  grpc::Status KeepLines(grpc::ServerContext*, const v1::LogReport* report, v1::LogReply* reply) override {
    const common::MutexLock lock(mutex_);
    if (stopping_) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "stopping");
    reply->set_process("fake");
    for (const v1::LogPiece& piece : report->pieces()) {
      Log& log = logs_[piece.trainer()];
      if (piece.begin() - piece.gone() <= log.end && log.end <= piece.begin()) {
        log.lines.insert(log.lines.end(), piece.lines().begin(), piece.lines().end());
        log.end = std::max(log.end, piece.end());
        log.last = piece.last();
      }
      v1::LogPosition& position = *reply->add_positions();
      position.set_job_uid(piece.job_uid());
      position.set_trainer(piece.trainer());
      position.set_end(log.end);
      position.set_last(log.last);
    }
    changed_.NotifyAll();
    return grpc::Status::OK;
  }

  // Has no bundle.
  grpc::Status GetBundle(grpc::ServerContext*, const v1::GetBundleRequest*, v1::GetBundleReply*) override {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such bundle here");
  }

  grpc::Status Sync(grpc::ServerContext* context, const v1::NodeReport* report, v1::NodeDirective* reply) override {
    common::MutexLock lock(mutex_);
    reports_.push_back({common::SteadySeconds(), *report});
    changed_.NotifyAll();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(report->wait_ms());
    const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return report->known_revision() != directive_.revision() || stopping_;
    };
    // A client that cancels its call does not wake the thread that answers the call. So this thread waits for a new
    // directive in short pieces, and checks for a cancellation after each.
    while (!context->IsCancelled() && std::chrono::steady_clock::now() < deadline &&
           !changed_.WaitFor(lock, std::chrono::milliseconds(20), is_due)) {
    }
    if (stopping_) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "stopping");
    *reply = directive_;
    return grpc::Status::OK;
  }

 private:
  struct Received {
    double at = 0;
    v1::NodeReport report;
  };

  struct Log {
    std::vector<std::string> lines;
    int64_t end = 0;
    bool last = false;
  };

  std::optional<v1::NodeReport> WaitFrom(common::MutexLock& lock, size_t next, const Predicate& fits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool came = changed_.WaitFor(lock, std::chrono::seconds(20), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      while (next < reports_.size() && !fits(reports_[next].report)) ++next;
      return next < reports_.size();
    });
    if (!came) return std::nullopt;
    found_at_ = reports_[next].at;
    return reports_[next].report;
  }

  mutable common::Mutex mutex_;
  common::CondVar changed_;
  v1::NodeDirective directive_ ABSL_GUARDED_BY(mutex_);
  std::vector<Received> reports_ ABSL_GUARDED_BY(mutex_);
  // `logs_` maps each trainer to its kept log lines.
  std::map<std::string, Log> logs_ ABSL_GUARDED_BY(mutex_);
  double found_at_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Only the thread of the test uses `port_` and `server_`.
  int port_ = 0;
  std::unique_ptr<common::Server> server_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TESTING_FAKE_COORDINATOR_H_

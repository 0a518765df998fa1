// Nodes for the agent's tests: answers as the long-poll contract says with a directive that the test sets, and lets the
// test wait for a report. Thread-safe.
#ifndef REKINDLE_WORKER_AGENT_FAKE_COORDINATOR_H_
#define REKINDLE_WORKER_AGENT_FAKE_COORDINATOR_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/rpc.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::agent {

class FakeCoordinator final : public v1::Nodes::Service {
 public:
  ~FakeCoordinator() override { Stop(); }

  // The port stays the same over Stop and Start.
  absl::Status Start() {
    {
      std::lock_guard lock(mutex_);
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
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    server_.reset();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // The next directives; the revision is set here.
  void Direct(v1::NodeDirective directive) {
    {
      std::lock_guard lock(mutex_);
      directive.set_revision(directive_.revision() + 1);
      directive_ = std::move(directive);
    }
    changed_.notify_all();
  }
  v1::NodeDirective directive() const {
    std::lock_guard lock(mutex_);
    return directive_;
  }

  using Predicate = std::function<bool(const v1::NodeReport&)>;
  // The first report from now on, the newest one included, that fits; nothing within the time.
  std::optional<v1::NodeReport> WaitFor(const Predicate& fits) {
    std::unique_lock lock(mutex_);
    return WaitFrom(lock, reports_.empty() ? 0 : reports_.size() - 1, fits);
  }
  // The same, without the first `from` reports.
  std::optional<v1::NodeReport> WaitFor(size_t from, const Predicate& fits) {
    std::unique_lock lock(mutex_);
    return WaitFrom(lock, from, fits);
  }
  // When the report that WaitFor returned last came in: steady seconds.
  double found_at() const {
    std::lock_guard lock(mutex_);
    return found_at_;
  }
  std::vector<v1::NodeReport> reports() const {
    std::lock_guard lock(mutex_);
    std::vector<v1::NodeReport> all;
    for (const Received& received : reports_) all.push_back(received.report);
    return all;
  }

  // True once that line of the trainer is here; false when it is not within the time.
  bool WaitLine(const std::string& trainer, const std::string& line) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      const std::vector<std::string>& lines = logs_[trainer].lines;
      return std::find(lines.begin(), lines.end(), line) != lines.end();
    });
  }

  // Keeps lines as the coordinator does.
  grpc::Status KeepLines(grpc::ServerContext*, const v1::LogReport* report, v1::LogReply* reply) override {
    const std::lock_guard lock(mutex_);
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
    changed_.notify_all();
    return grpc::Status::OK;
  }

  grpc::Status Sync(grpc::ServerContext* context, const v1::NodeReport* report, v1::NodeDirective* reply) override {
    std::unique_lock lock(mutex_);
    reports_.push_back({common::SteadySeconds(), *report});
    changed_.notify_all();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(report->wait_ms());
    while (report->known_revision() == directive_.revision() && !stopping_ && !context->IsCancelled() &&
           std::chrono::steady_clock::now() < deadline) {
      changed_.wait_for(lock, std::chrono::milliseconds(20));  // IsCancelled wakes nobody.
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

  std::optional<v1::NodeReport> WaitFrom(std::unique_lock<std::mutex>& lock, size_t next, const Predicate& fits) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      for (; next < reports_.size(); ++next) {
        if (fits(reports_[next].report)) {
          found_at_ = reports_[next].at;
          return reports_[next].report;
        }
      }
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && next == reports_.size()) {
        return std::nullopt;
      }
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  v1::NodeDirective directive_;
  std::vector<Received> reports_;
  std::map<std::string, Log> logs_;  // By trainer.
  double found_at_ = 0;
  bool stopping_ = false;
  int port_ = 0;
  std::unique_ptr<common::Server> server_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FAKE_COORDINATOR_H_

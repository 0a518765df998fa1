// Loads a coordinator over gRPC with heartbeats of many nodes or with submits of many jobs.
//
//   rekindle-bench-coordinator-load --endpoint HOST:PORT heartbeats --nodes 10000 --seconds 10
//   rekindle-bench-coordinator-load --endpoint HOST:PORT submits --job FILE.json --jobs 15000 --nodes 1000 --slots 16
//
// It prints lines of JSON: {"calls": n, "seconds": s, "failed": n, "p99_seconds": s}. After submits with nodes it also
// prints {"placed": n, "seconds": s}, where the seconds are those from the first submit until nodes had to run a
// trainer for each job.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/coordinator/call_lanes.h"
#include "common/agreed/version.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "google/protobuf/util/json_util.h"
#include "rekindle/v1/coordinator.grpc.pb.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::bench {
namespace {

struct Options {
  std::string endpoint, job_file;
  int connections = 100, in_flight = 4, nodes = 10'000, slots = 1, jobs = 15'000;
  double seconds = 10;
};

v1::NodeReport ReportOf(const Options& options, int node) {
  v1::NodeReport report;
  report.set_node("node-" + std::to_string(node));
  report.set_incarnation("i");
  report.set_agent_incarnation("a");
  report.set_protocol_version(common::kProtocolVersion);
  report.set_version(common::kVersion);
  report.set_slots(options.slots);
  report.set_zone("zone-" + std::to_string(node % 9));
  report.set_checkpoint_incarnation("c");
  report.set_checkpoint_address("10.0." + std::to_string(node / 250) + "." + std::to_string(node % 250) + ":7071");
  report.mutable_device()->set_kind("cpu");
  return report;
}

using NodeLane = Lane<v1::NodeReport, v1::NodeDirective>;
using NodeStub = std::shared_ptr<v1::Nodes::Stub>;

std::vector<NodeStub> ConnectNodes(const Options& options) {
  std::vector<NodeStub> stubs;
  for (int i = 0; i < options.connections; ++i) stubs.push_back(v1::Nodes::NewStub(Connect(options.endpoint)));
  return stubs;
}

NodeLane::Start StartOf(const NodeStub& stub) {
  return [stub](grpc::ClientContext* context, const v1::NodeReport* report, v1::NodeDirective* directive,
                std::function<void(grpc::Status)> done) {
    stub->async()->Sync(context, report, directive, std::move(done));
  };
}

// Lets every node report once, so that the coordinator knows it.
void Register(const Options& options, const std::vector<NodeStub>& stubs) {
  Load load;
  std::vector<std::unique_ptr<NodeLane>> lanes;
  for (int i = 0; i < options.connections; ++i) {
    lanes.push_back(std::make_unique<NodeLane>(
        load, StartOf(stubs[i]),
        [&options, node = i - options.connections](const v1::NodeDirective&, v1::NodeReport* report) mutable {
          node += options.connections;
          if (node >= options.nodes) return false;
          *report = ReportOf(options, node);
          return true;
        }));
  }
  load.Print(RunLanes(lanes));
}

// Lets all nodes report again and again, as fast as they are answered.
int Heartbeats(const Options& options) {
  const std::vector<NodeStub> stubs = ConnectNodes(options);
  Register(options, stubs);
  Load load;
  std::vector<int> known(options.nodes);
  std::vector<std::unique_ptr<NodeLane>> lanes;
  const double until = common::SteadySeconds() + options.seconds;
  for (int i = 0; i < options.connections; ++i) {
    for (int k = 0; k < options.in_flight; ++k) {
      // A connection has several lanes. Each makes one call after the other, and reports for its own part of the
      // connection's nodes.
      const int stride = options.connections * options.in_flight, first = i + k * options.connections;
      if (first >= options.nodes) continue;
      lanes.push_back(std::make_unique<NodeLane>(load, StartOf(stubs[i]),
                                                 [&options, &known, until, stride, first, node = first - stride](
                                                     const v1::NodeDirective& last, v1::NodeReport* report) mutable {
                                                   if (node >= 0 && last.revision() != 0) known[node] = last.revision();
                                                   if (common::SteadySeconds() >= until) return false;
                                                   node = node + stride < options.nodes ? node + stride : first;
                                                   *report = ReportOf(options, node);
                                                   report->set_known_revision(known[node]);
                                                   return true;
                                                 }));
    }
  }
  load.Print(RunLanes(lanes));
  return 0;
}

// Models nodes that wait for work in long polls, as agents do, until each job has a trainer.
class Workers {
 public:
  Workers(const Options& options, const std::vector<NodeStub>& stubs) : options_(options), trainers_(options.nodes) {
    for (int node = 0; node < options.nodes; ++node) {
      lanes_.push_back(std::make_unique<NodeLane>(
          load_, StartOf(stubs[node % stubs.size()]),
          [this, node](const v1::NodeDirective& last, v1::NodeReport* report) { return Poll(node, last, report); }));
    }
    for (auto& lane : lanes_) lane->Go();
  }
  ~Workers() {
    for (auto& lane : lanes_) lane->Await();
  }
  // Waits until each job has a trainer. Returns false if some job has none after `seconds`.
  bool Await(double seconds) {
    common::MutexLock lock(mutex_);
    const bool all = placed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return total_ >= options_.jobs; });
    done_ = true;
    return all;
  }
  int total() const {
    const common::MutexLock lock(mutex_);
    return total_;
  }

 private:
  bool Poll(int node, const v1::NodeDirective& last, v1::NodeReport* report) {
    const common::MutexLock lock(mutex_);
    if (last.revision() != 0 && last.revision() != report->known_revision()) {
      total_ += last.trainers_size() - trainers_[node];
      trainers_[node] = last.trainers_size();
      if (total_ >= options_.jobs) placed_.NotifyAll();
    }
    if (done_ || total_ >= options_.jobs) return false;
    *report = ReportOf(options_, node);
    report->set_known_revision(last.revision());
    report->set_wait_ms(1000);
    return true;
  }

  const Options& options_;
  Load load_;
  mutable common::Mutex mutex_;
  common::CondVar placed_;
  std::vector<int> trainers_ ABSL_GUARDED_BY(mutex_);
  int total_ ABSL_GUARDED_BY(mutex_) = 0;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<NodeLane>> lanes_;
};

int Submits(const Options& options) {
  using JobLane = Lane<v1::SubmitJobRequest, v1::Job>;
  std::ifstream file(options.job_file);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  v1::Job job;
  if (!google::protobuf::util::JsonStringToMessage(text, &job).ok()) {
    std::fprintf(stderr, "error: %s is no job\n", options.job_file.c_str());
    return 1;
  }
  std::vector<std::shared_ptr<v1::Coordinator::Stub>> stubs;
  for (int i = 0; i < options.connections; ++i) stubs.push_back(v1::Coordinator::NewStub(Connect(options.endpoint)));
  const std::vector<NodeStub> nodes = ConnectNodes(options);
  if (options.nodes > 0) Register(options, nodes);
  Workers workers(options, nodes);
  const double begun = common::SteadySeconds();
  Load load;
  std::atomic<int> number{0};
  std::vector<std::unique_ptr<JobLane>> lanes;
  for (int i = 0; i < options.connections; ++i) {
    lanes.push_back(std::make_unique<JobLane>(
        load,
        [stub = stubs[i]](grpc::ClientContext* context, const v1::SubmitJobRequest* request, v1::Job* reply,
                          std::function<void(grpc::Status)> done) {
          stub->async()->SubmitJob(context, request, reply, std::move(done));
        },
        [&](const v1::Job&, v1::SubmitJobRequest* request) {
          const int mine = number++;
          if (mine >= options.jobs) return false;
          *request->mutable_job() = job;
          request->mutable_job()->set_name("job-" + std::to_string(mine));
          request->set_request_id("load-" + std::to_string(mine));
          return true;
        }));
  }
  load.Print(RunLanes(lanes));
  if (load.calls() != options.jobs) return 1;
  if (options.nodes == 0) return 0;
  const bool placed = workers.Await(120);
  std::printf("%s\n",
              nlohmann::json{{"placed", workers.total()}, {"seconds", common::SteadySeconds() - begun}}.dump().c_str());
  return placed ? 0 : 1;
}

}  // namespace
}  // namespace rekindle::bench

int main(int argc, char** argv) {
  using rekindle::bench::Options;
  Options options;
  CLI::App app("Loads a coordinator over gRPC.");
  app.add_option("--endpoint", options.endpoint, "host:port")->required();
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 1000));
  app.require_subcommand(1);
  CLI::App* heartbeats = app.add_subcommand("heartbeats", "Nodes that report as fast as they are answered");
  heartbeats->add_option("--nodes", options.nodes)->check(CLI::Range(1, 1'000'000));
  heartbeats->add_option("--seconds", options.seconds)->check(CLI::Range(0.1, 600.0));
  heartbeats->add_option("--in-flight", options.in_flight, "Calls of a connection")->check(CLI::Range(1, 1000));
  CLI::App* submits = app.add_subcommand("submits", "Jobs, as fast as they are taken");
  submits->add_option("--job", options.job_file, "A job as JSON")->required();
  submits->add_option("--jobs", options.jobs)->check(CLI::Range(1, 1'000'000));
  submits->add_option("--nodes", options.nodes, "That wait for work")->check(CLI::Range(0, 1'000'000));
  submits->add_option("--slots", options.slots, "Of each node")->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);
  return heartbeats->parsed() ? rekindle::bench::Heartbeats(options) : rekindle::bench::Submits(options);
}

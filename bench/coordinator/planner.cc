// Measures how long one planning cycle of the coordinator's core takes, and how long a heartbeat takes that says
// nothing new.
//
//   rekindle-bench-planner NODES JOBS ROUNDS
//
// The nodes belong to ten pools that take orders or to no pool. The jobs belong to ten teams and have five priorities.
// Some are gangs and some are elastic. They need more nodes than there are, and every twentieth has a deadline. Nine
// tenths of the nodes are there and train. The output is one line of JSON with medians in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/agreed/version.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/scenario/scenario_trainer.h"

namespace rekindle::core {
namespace {

constexpr int kPools = 10;
constexpr int kTeams = 10;
constexpr int kPriorities = 5;
// A job has at most `kWidest` nodes.
constexpr int kWidest = 16;
constexpr double kReportSeconds = 0.5;
// Before a report that has to cause a planning cycle, the bench lets `kCycleSeconds` of virtual time pass, because the
// core waits up to 0.11 s between two cycles.
constexpr double kCycleSeconds = 0.15;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

PriceBook Prices(int nodes) {
  PriceBook book;
  for (int p = 0; p < kPools; ++p) {
    PoolPrices& pool = book.pools["pool-" + std::to_string(p)];
    pool.capacity = p % 3 == 2 ? "on_demand" : "spot";
    pool.price = {{0, 1 + 0.02 * p}};
    pool.ordered = true;
    pool.max = nodes / kPools;
  }
  for (int t = 0; t < kTeams; ++t) book.teams["team-" + std::to_string(t)] = {1.0 + t, t == 0 ? nodes / 4 : 0};
  return book;
}

v1::NodeReport Node(int n) {
  v1::NodeReport report;
  report.set_node("n" + std::to_string(n));
  report.set_incarnation("i");
  report.set_agent_incarnation("a");
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(1);
  report.set_wait_ms(10'000);
  if (n % (kPools + 1) < kPools) report.set_pool("pool-" + std::to_string(n % (kPools + 1)));
  return report;
}

SubmitJob Job(int j) {
  SubmitJob submit;
  v1::Job* job = submit.record.mutable_job();
  job->set_name("job-" + std::to_string(j));
  job->set_uid("uid-" + std::to_string(j));
  submit.record.set_secret("secret");
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(64);
  spec->mutable_training()->set_micro_batch(1);
  spec->mutable_training()->set_steps(100'000);
  spec->mutable_training()->set_precision("fp32");
  spec->set_priority(j % kPriorities);
  spec->set_team("team-" + std::to_string(j % kTeams));
  spec->mutable_workers()->set_min(1 + j % 8);
  spec->mutable_workers()->set_max(j % 4 == 0 ? 1 + j % 8 : kWidest);
  spec->mutable_estimate()->set_step_seconds(1);
  if (j % 20 == 0) spec->mutable_goals()->set_deadline_hours(1000);
  return submit;
}

// Models all nodes and trainers of the cluster. They follow their directives and report that.
class Fleet {
 public:
  // Nine tenths of the cluster's `nodes` nodes report. The others stand for machines that have not come yet.
  Fleet(int nodes, int jobs) : there_(nodes * 9 / 10) {
    Restored restored;
    restored.prices = Prices(nodes);
    cluster_.Step(restored, now_);
    for (int j = 0; j < jobs; ++j) cluster_.Step(Job(j), now_);
  }

  // Lets jobs start until the number of running jobs no longer grows. Some keep waiting, such as a gang that lacks the
  // last of its nodes.
  void Start() {
    for (int most = -1; most < running_;) {
      most = running_;
      for (int round = 0; round < kStarts; ++round) Report();
    }
  }

  void Report() {
    now_ += kReportSeconds;
    running_ = 0;
    for (int n = 0; n < there_; ++n) {
      const v1::NodeReport node = Node(n);
      cluster_.Step(NodeReported{node}, now_);
      const v1::NodeDirective told = cluster_.DirectiveForNode(node.node());
      for (const v1::DesiredTrainer& desired : told.trainers()) Work(node, desired);
    }
  }

  // Moves the clock on by `later` seconds, reports that node `n` may be taken soon, and returns the milliseconds that
  // the core needs for the report. After kCycleSeconds the report causes a planning cycle. The same report again, after
  // 0 seconds, is only a heartbeat.
  double Hint(int n, double later) {
    now_ += later;
    NodeReported event{Node(n)};
    event.report.set_hint("rebalance");
    const auto begun = std::chrono::steady_clock::now();
    cluster_.Step(event, now_);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  }

  int running() const { return running_; }

 private:
  static constexpr int kStarts = 10;

  void Work(const v1::NodeReport& node, const v1::DesiredTrainer& desired) {
    const std::string name = node.node() + "/" + std::to_string(desired.slot());
    v1::TrainerReport& report = trainers_[name];
    if (report.job_uid() != desired.job_uid()) {
      report = NewTrainer(name, ++incarnation_, desired.job_uid(), desired.job_secret());
    } else {
      const v1::TrainerDirective told = cluster_.DirectiveForTrainer(desired.job_uid(), report.trainer());
      FollowDirective(told, report);
      // FollowDirective puts the membership into the report. A real trainer reports its membership only if it has not
      // heard from the coordinator for a while.
      report.clear_membership();
      if (told.action() == v1::TrainerDirective::RUN) CompleteSteps(told.membership(), 1, report);
    }
    report.set_sequence(report.sequence() + 1);
    cluster_.Step(TrainerReported{report}, now_);
    running_ += report.phase() == v1::TRAINER_RUNNING;
  }

  const int there_;
  Cluster cluster_;
  double now_ = 100;
  // `trainers_` maps each slot, as NODE/SLOT, to the report of the trainer that runs there.
  std::map<std::string, v1::TrainerReport> trainers_;
  int incarnation_ = 0;
  int running_ = 0;
};

int Main(int nodes, int jobs, int rounds) {
  Fleet fleet(nodes, jobs);
  fleet.Start();
  std::vector<double> cycles, beats;
  for (int round = 0; round < rounds; ++round) {
    fleet.Report();
    cycles.push_back(fleet.Hint(round, kCycleSeconds));
    beats.push_back(fleet.Hint(round, 0));
  }
  const nlohmann::json out = {{"nodes", nodes},
                              {"jobs", jobs},
                              {"running", fleet.running()},
                              {"cycle_ms", Median(cycles)},
                              {"heartbeat_ms", Median(beats)}};
  std::printf("%s\n", out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rekindle::core

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: rekindle-bench-planner NODES JOBS ROUNDS\n");
    return 2;
  }
  return rekindle::core::Main(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
}

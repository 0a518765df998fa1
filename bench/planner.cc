// How long one planning cycle of the coordinator's core takes, and a heartbeat that says nothing new.
//
//   rekindle-bench-planner NODES JOBS ROUNDS
//
// Nodes of ten pools that take orders and of none, jobs of ten teams and five priorities, gangs and elastic ones, more
// than there is room for; every twentieth has a deadline. One line of JSON: medians in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/version.h"
#include "coordinator/core/cluster.h"

namespace rekindle::core {
namespace {

constexpr int kPools = 10;
constexpr int kTeams = 10;
constexpr int kPriorities = 5;
constexpr int kWidest = 16;  // Nodes of a job.

double Milliseconds(const std::function<void()>& run) {
  const auto begun = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

PriceBook Prices(int nodes) {
  PriceBook book;
  for (int p = 0; p < kPools; ++p) {
    PoolPrices& pool = book.pools["pool-" + std::to_string(p)];
    pool.capacity = p % 3 == 2 ? "on_demand" : "spot";
    pool.price = {{0, 1.0 + p}};
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

int Main(int nodes, int jobs, int rounds) {
  Cluster cluster;
  double now = 100;
  Restored restored;
  restored.prices = Prices(nodes);
  cluster.Step(restored, now);
  for (int j = 0; j < jobs; ++j) cluster.Step(Job(j), now);
  // A tenth of the fleet is still to come.
  for (int n = 0; n < nodes * 9 / 10; ++n) cluster.Step(NodeReported{Node(n)}, now);
  for (int settling = 0; settling < 3; ++settling) cluster.Step(Tick{}, now += 1);
  std::vector<double> cycles, beats;
  for (int round = 0; round < rounds; ++round) {
    v1::NodeReport report = Node(round);
    report.set_hint(round % 2 == 0 ? "rebalance" : "");
    now += 1;
    cycles.push_back(Milliseconds([&] { cluster.Step(NodeReported{report}, now); }));
    const v1::NodeReport same = report;
    beats.push_back(Milliseconds([&] { cluster.Step(NodeReported{same}, now); }));
  }
  int placed = 0;
  for (const v1::Node& node : cluster.Nodes(now)) placed += !cluster.DirectiveForNode(node.name()).trainers().empty();
  const nlohmann::json out = {{"nodes", nodes},
                              {"jobs", jobs},
                              {"placed", placed},
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

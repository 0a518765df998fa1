// Plays jobs on spot traces in virtual time, with the coordinator's planner and, for comparison, with known policies.
//
//   rekindle-bench-fleet < request.json
//
// The request is: {"trace": FILE or "constant": {ZONE: nodes} for "steps": n, "step_seconds": s, "merge": ticks,
// "nodes": n, "min": n, "on_demand": price, "carbon": {REGION: FILE}, "regions": {ZONE: REGION}, "runs": [{"policy":
// NAME, "first": step, "zone": index, "hours": W, "deadline": D, "start": h, "pause": h, "budget": b, "green": bool,
// "spot_only": bool, "margin": share, "factor": x, "refusal": h}, ...]}. A spot node costs 1 an hour. A node uses 1 kWh
// an hour and emits the CO2 of its region for that. The output is one line of JSON: {"granted": node-hours of all
// zones, "runs": [{"cost", ...}, ...]}.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "coordinator/fleet/simulator/optimum.h"
#include "coordinator/fleet/simulator/simulate.h"
#include "coordinator/fleet/simulator/trace.h"
#include "coordinator/scheduler/baselines.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using scheduler::Capacity;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "rekindle-bench-fleet: %s\n", why.c_str());
  std::exit(1);
}

Trace ReadTrace(const std::string& path, const TraceOptions& options) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto trace = ParseTrace(text.str(), path, options);
  if (!trace.ok()) Fail(std::string(trace.status().message()));
  return *std::move(trace);
}

World MakeWorld(const json& request) {
  Trace trace{.step_seconds = request.at("step_seconds")};
  if (request.contains("trace")) {
    trace = ReadTrace(request["trace"], {.step_seconds = trace.step_seconds});
  } else {
    const int steps = request.at("steps");
    for (const auto& [zone, nodes] : request.at("constant").items()) {
      trace.zones.push_back({.zone = zone, .nodes = std::vector<int>(steps, nodes.get<int>())});
    }
  }
  if (request.value("merge", 1) > 1) trace = Merge(trace, request.at("merge"));
  World world{.step_hours = trace.step_seconds / 3600, .steps = static_cast<int>(trace.zones[0].nodes.size())};
  for (const ZoneTrace& zone : trace.zones)
    world.pools.push_back({.name = zone.zone, .available = zone.nodes, .price = {1}});
  world.pools.push_back({.name = "on-demand",
                         .capacity = Capacity::kOnDemand,
                         .available = {1 << 20},
                         .price = {request.value("on_demand", 3.0)}});
  for (WorldPool& pool : world.pools) {
    if (!request.contains("regions") || !request["regions"].contains(pool.name)) continue;
    const std::string region = request["regions"][pool.name];
    pool.grams = ReadTrace(request["carbon"].at(region), {}).grams_per_kwh;
  }
  return world;
}

std::unique_ptr<scheduler::Strategy> MakeStrategy(const std::string& name) {
  if (name == "planner") return std::make_unique<scheduler::Planner>();
  if (name == "on_demand") return std::make_unique<scheduler::OnDemandOnly>();
  if (name == "next_zone") return std::make_unique<scheduler::NextZone>();
  if (name == "uniform_progress") return std::make_unique<scheduler::UniformProgress>();
  Fail("no policy is called " + name);
}

FleetJob MakeJob(const json& request, const json& run) {
  FleetJob job{.hours = run.at("hours"),
               .min = request.value("min", request.at("nodes").get<int>()),
               .max = request.at("nodes"),
               .deadline = run.value("deadline", scheduler::kNever),
               .budget = run.value("budget", scheduler::kNever),
               .start_hours = run.value("start", 0.0),
               .pause_hours = run.value("pause", 0.0)};
  job.policy.margin_share = run.value("margin", job.policy.margin_share);
  if (run.value("green", false)) job.policy.objective = scheduler::Objective::kGreenest;
  if (run.value("spot_only", false)) job.policy.capacity = scheduler::Allowed::kSpot;
  return job;
}

json Describe(const Outcome& out) {
  return {{"cost", out.cost},           {"missed", out.missed},
          {"finished", out.finished},   {"hours", out.finish_hours},
          {"useful", out.useful_hours}, {"paid", out.spot_hours + out.on_demand_hours},
          {"starts", out.starts},       {"interruptions", out.interruptions},
          {"grams", out.grams},         {"over_budget", out.over_budget}};
}

double Granted(const World& world) {
  double nodes = 0;
  for (const WorldPool& pool : world.pools) {
    if (pool.capacity == Capacity::kSpot) nodes += std::accumulate(pool.available.begin(), pool.available.end(), 0.0);
  }
  return nodes * world.step_hours;
}

json Play(const json& request, const World& whole, const json& run, scheduler::Strategy* planner) {
  World world = whole.From(run.value("first", 0));
  if (const int zone = run.value("zone", -1); zone >= 0) world.pools = {world.pools[zone], world.pools.back()};
  FleetJob job = MakeJob(request, run);
  const std::string policy = run.at("policy");
  if (policy == "optimum") {
    const auto cost = job.gang() ? GangOptimum(world, job) : ElasticBound(world, job);
    if (!cost.ok()) Fail(std::string(cost.status().message()));
    return {{"cost", *cost}};
  }
  const Surprises surprises{.start_factor = run.value("factor", 1.0), .on_demand_refusal = run.value("refusal", 0.0)};
  if (policy == "planner") return Describe(Simulate(world, job, *planner, surprises));
  job.min = job.max;
  return Describe(Simulate(world, job, *MakeStrategy(policy), surprises));
}

int Main() {
  const json request = json::parse(std::cin);
  const World world = MakeWorld(request);
  scheduler::Planner planner;
  json runs = json::array();
  for (const json& run : request.at("runs")) runs.push_back(Play(request, world, run, &planner));
  std::printf("%s\n", json{{"granted", Granted(world)}, {"runs", runs}}.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rekindle::fleet

int main() { return rekindle::fleet::Main(); }

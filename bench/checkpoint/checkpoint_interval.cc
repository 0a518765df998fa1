// Plays spot traces against CheckpointSchedule in virtual time, with fixed intervals and with `auto`. It measures which
// share of its time a job spends on saves, and which share on repeating work that an interruption threw away.
//
//   rekindle-bench-checkpoint-interval < request.json
//
// The request is: {"segments": [[seconds, nodes], ...], "loses": "any" | "all", "save_seconds": C, "write_seconds": W,
// "fixed": [seconds, ...]}. The output is one line of JSON: {"up_seconds": s, "interruptions": k, "policies": {"60":
// {"saves": share, "lost": share}, ...}}.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "worker/train/save/checkpoint_schedule.h"

namespace rekindle::train {
namespace {

using nlohmann::json;

constexpr double kStepSeconds = 2;

struct Request {
  std::vector<std::pair<double, int>> segments;
  // If `any_loses` is set, the state is lost when any node goes. Otherwise it is lost only when all nodes go.
  bool any_loses = true;
  double save_seconds = 0;
  double write_seconds = 0;
};

struct Outcome {
  double up = 0;
  double saves = 0;
  double lost = 0;
  int interruptions = 0;
};

class Play {
 public:
  Play(const Request& request, const CheckpointSpec& spec) : request_(request), schedule_(spec) {}

  Outcome Run() {
    int before = 0;
    for (const auto& [seconds, nodes] : request_.segments) {
      if (nodes != before) Change(before, nodes);
      before = nodes;
      if (nodes == 0) {
        now_ += seconds;
        continue;
      }
      const double end = now_ + seconds;
      while (now_ < end) Step();
      outcome_.up += seconds;
      record_.node_hours += nodes * seconds / 3600;
    }
    return outcome_;
  }

 private:
  void Change(int before, int nodes) {
    if (nodes < before) {
      ++outcome_.interruptions;
      ++record_.interruptions;
      if (nodes == 0 || request_.any_loses) Lose();
    }
    durable_at_ = -1;
    if (nodes == 0) return;
    record_.nodes = nodes;
    schedule_.Joined(now_, record_);
    if (lost_) schedule_.Restarted(now_, durable_step_);
    if (lost_) at_risk_since_ = now_;
    lost_ = false;
  }
  void Lose() {
    if (lost_) return;
    outcome_.lost += now_ - at_risk_since_;
    lost_ = true;
  }
  void Step() {
    const bool begin = schedule_.Due(now_, step_ + 1, kStepSeconds);
    double seconds = kStepSeconds;
    if (durable_at_ >= 0) {
      const double slower = request_.save_seconds * kStepSeconds / request_.write_seconds;
      seconds += slower;
      outcome_.saves += slower;
    }
    now_ += seconds;
    ++step_;
    schedule_.StepDone(seconds, true);
    if (durable_at_ >= 0 && now_ >= durable_at_) {
      durable_at_ = -1;
      durable_step_ = begun_step_;
      at_risk_since_ = begun_at_;
      schedule_.Durable(now_, durable_step_);
    }
    if (!begin) return;
    begun_at_ = now_;
    begun_step_ = step_;
    durable_at_ = now_ + request_.write_seconds;
    schedule_.Begun(now_, step_);
  }

  const Request& request_;
  CheckpointSchedule schedule_;
  InterruptionRecord record_;
  Outcome outcome_;
  double now_ = 0;
  int64_t step_ = 0;
  // `lost_` says that no node holds the state of training, which is so until the first node joins.
  bool lost_ = true;
  double at_risk_since_ = 0;
  double begun_at_ = 0;
  int64_t begun_step_ = 0;
  // The save in flight becomes durable at `durable_at_`.
  double durable_at_ = -1;
  int64_t durable_step_ = 0;
};

json Shares(const Outcome& outcome) {
  return {{"saves", outcome.saves / outcome.up}, {"lost", outcome.lost / outcome.up}};
}

int Main() {
  const json in = json::parse(std::cin);
  Request request;
  for (const json& segment : in.at("segments")) request.segments.emplace_back(segment.at(0), segment.at(1));
  request.any_loses = in.at("loses") == "any";
  request.save_seconds = in.at("save_seconds");
  request.write_seconds = in.at("write_seconds");
  const Outcome automatic = Play(request, {.kind = CheckpointSpec::Kind::kAuto}).Run();
  json out = {{"up_seconds", automatic.up}, {"interruptions", automatic.interruptions}};
  out["policies"]["auto"] = Shares(automatic);
  for (const double seconds : in.at("fixed")) {
    const CheckpointSpec spec{.kind = CheckpointSpec::Kind::kEverySeconds, .every_seconds = seconds};
    out["policies"][std::to_string(static_cast<int>(seconds))] = Shares(Play(request, spec).Run());
  }
  std::printf("%s\n", out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rekindle::train

int main() { return rekindle::train::Main(); }

// This test plays every testdata/*.txt. A file has a job, pools and what happens to them, and then the planner's
// timeline with its reasons.
//
//   job KEY=VALUE ...         sets hours, min, max, deadline, budget, start, pause, green, refusal
//   spot NAME PRICE N*H ...   is a spot pool with N nodes for H hours, then the next N*H, ...
//   on_demand NAME PRICE      is an on-demand pool
//   grams NAME G*H ...        lets its nodes emit G grams an hour for H hours, from the day before the job on
//   play STEP                 plays the job and plans every STEP hours
#include <cmath>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/testing/golden_testing.h"
#include "coordinator/fleet/simulator/simulate.h"

namespace rekindle::fleet {
namespace {

double Number(const std::string& text) {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &value)) << text << " is no number";
  return value;
}

// A Spell is a value and how long it holds. It is written as "3*2", which means the value 3 for 2 hours.
struct Spell {
  double value = 0;
  double hours = 0;
};

class Story {
 public:
  std::vector<std::string> Run(const std::string& line) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words[0] == "job") return Job(words);
    if (words[0] == "play") return Play(Number(words[1]));
    if (words[0] != "spot" && words[0] != "on_demand" && words[0] != "grams") return {"error: no " + words[0]};
    std::vector<Spell> spells;
    for (size_t i = words[0] == "grams" ? 2 : 3; i < words.size(); ++i) {
      const std::vector<std::string> parts = absl::StrSplit(words[i], '*');
      spells.push_back({Number(parts[0]), Number(parts[1])});
    }
    if (words[0] == "grams") {
      for (const Spell& spell : spells) grams_[words[1]].insert(grams_[words[1]].end(), spell.hours, spell.value);
      return {};
    }
    // The third word of a pool's line has the form PRICE or PRICE*SPEED.
    const std::vector<std::string> price = absl::StrSplit(words[2], '*');
    pools_.push_back({.name = words[1], .price = {Number(price[0])}});
    if (price.size() > 1) pools_.back().speed = Number(price[1]);
    if (words[0] == "on_demand") pools_.back().capacity = scheduler::Capacity::kOnDemand;
    spells_[words[1]] = spells;
    return {};
  }

 private:
  std::vector<std::string> Job(const std::vector<std::string>& words) {
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<std::string, std::string> entry = absl::StrSplit(words[i], '=');
      const double value = Number(entry.second);
      if (entry.first == "hours")
        job_.hours = value;
      else if (entry.first == "min")
        job_.min = static_cast<int>(value);
      else if (entry.first == "max")
        job_.max = static_cast<int>(value);
      else if (entry.first == "deadline")
        job_.deadline = value;
      else if (entry.first == "budget")
        job_.budget = value;
      else if (entry.first == "start")
        job_.start_hours = value;
      else if (entry.first == "pause")
        job_.pause_hours = value;
      else if (entry.first == "refusal")
        surprises_.on_demand_refusal = value;
      else if (entry.first == "green")
        job_.policy.objective = scheduler::Objective::kGreenest;
      else if (entry.first == "fastest")
        job_.policy.objective = scheduler::Objective::kFastest;
      else
        return {"error: no " + entry.first};
    }
    return {};
  }

  std::vector<std::string> Play(double step) {
    World world{.step_hours = step, .steps = static_cast<int>(std::lround(100 / step)), .pools = pools_};
    for (WorldPool& pool : world.pools) {
      for (const Spell& spell : spells_[pool.name]) {
        pool.available.insert(pool.available.end(), std::lround(spell.hours / step), static_cast<int>(spell.value));
      }
      if (pool.available.empty())
        pool.available = {1000};
      else
        pool.available.resize(world.steps, pool.available.back());
      pool.grams = grams_[pool.name];
      pool.grams_begin = 24;
    }
    scheduler::Planner planner;
    const Outcome out = Simulate(world, job_, planner, surprises_);
    std::vector<std::string> said;
    for (const Moment& moment : out.timeline) said.push_back(absl::StrFormat("%.2f h: %s", moment.hours, moment.text));
    said.push_back(absl::StrFormat("%s after %.2f h for %.2f: %.2f node-hours of work, %.2f lost, %d interruptions",
                                   out.finished ? (out.missed ? "late" : "done") : "not done", out.finish_hours,
                                   out.cost, out.useful_hours, out.start_hours, out.interruptions));
    return said;
  }

  FleetJob job_;
  Surprises surprises_;
  std::vector<WorldPool> pools_;
  std::map<std::string, std::vector<Spell>> spells_;
  std::map<std::string, std::vector<double>> grams_;
};

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, PlansAsWritten) {
  Story story;
  common::CheckGolden(GetParam(), [&](const std::string& line) { return story.Run(line); });
}

INSTANTIATE_TEST_SUITE_P(Testdata, Golden,
                         testing::ValuesIn(common::GoldenFiles("coordinator/fleet/simulator/testdata")),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace rekindle::fleet

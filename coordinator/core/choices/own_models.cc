#include "coordinator/core/choices/own_models.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/agreed/allow_code.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

using scheduler::OwnCode;

constexpr char kTakesNone[] =
    "this coordinator takes no code of users: start rekindle-coordinator with --allow-code on";

// Returns whether the node can run the job's own model.
bool CanRun(const NodeState& node, const v1::JobSpec& spec) {
  const std::string& device = spec.workers().device();
  return OwnCodeOf(spec) <= node.runs && (device.empty() || node.report.device().kind() == device);
}

// Returns why the node cannot run the job's own model. REQUIRES: CanRun is false.
std::string Flaw(const v1::NodeReport& report, const v1::JobSpec& spec) {
  if (report.allow_code().empty()) {
    return absl::StrCat("it runs no code of users, because its rekindle-worker is of an earlier release (",
                        Bounded(report.version(), 50), "): install this release on it");
  }
  if (report.allow_code() == common::kCodeNeedsIsolation) {
    return "it cannot isolate code of users, and its log says why: run its rekindle-worker as root, or start it with "
           "--allow-code unisolated if you trust all who submit jobs";
  }
  if (!common::AllowsCode(report.allow_code())) {
    return "it runs no code of users: start its rekindle-worker with --allow-code on";
  }
  const std::string& device = spec.workers().device();
  if (!device.empty() && report.device().kind() != device) {
    return absl::StrCat("it computes on ", Bounded(report.device().kind(), 20), ", and own models on ", device,
                        ": start its rekindle-worker with --device ", device);
  }
  if (!report.has_interpreter()) {
    return "it has no Python for own models: start its rekindle-worker with --python PATH, or set "
           "spec.model.interpreter";
  }
  return absl::StrCat(Bounded(report.interpreter().path(), 200), " ", Bounded(report.interpreter().problem(), 300));
}

// Holds which of the usable nodes cannot run the job's own model.
struct Unable {
  size_t usable = 0;
  size_t nodes = 0;
  // `first` names the first of them, as in "node a: it ...".
  std::string first;
};

Unable FindUnable(const State& state, const v1::JobSpec& spec) {
  Unable found;
  for (const auto& [name, node] : state.nodes) {
    const bool usable = node.reported && !node.lost && !node.record.draining() && node.error.empty();
    if (!usable || UsableSlots(node.report) == 0) continue;
    ++found.usable;
    if (CanRun(node, spec)) continue;
    if (++found.nodes == 1) found.first = absl::StrCat("node ", Bounded(name, 100), ": ", Flaw(node.report, spec));
  }
  return found;
}

std::string Describe(const Unable& unable) {
  const size_t others = unable.nodes - 1;
  return absl::StrCat(unable.first, others == 0   ? ""
                                    : others == 1 ? "; another node cannot either"
                                                  : absl::StrCat("; ", others, " other nodes cannot either"));
}

bool HasOwnModel(const v1::JobSpec& spec) { return OwnCodeOf(spec) != OwnCode::kNone; }

}  // namespace

std::string UnfitForOwnModel(const State& state, const v1::JobSpec& spec) {
  // A coordinator that takes no code has refused the job before it asks which nodes there are.
  if (!HasOwnModel(spec) || !state.tunables.takes_code) return "";
  const bool orders = std::any_of(state.prices.pools.begin(), state.prices.pools.end(),
                                  [](const auto& pool) { return pool.second.ordered; });
  const Unable unable = FindUnable(state, spec);
  if (orders || unable.usable == 0 || unable.nodes < unable.usable) return "";
  return absl::StrCat("spec.model.python: no node can run it (", Describe(unable), ")");
}

std::string DescribeUnable(const State& state, const v1::JobSpec& spec) {
  if (!HasOwnModel(spec)) return "";
  if (!state.tunables.takes_code) return kTakesNone;
  const Unable unable = FindUnable(state, spec);
  if (unable.nodes > 0) return Describe(unable);
  for (const auto& [name, pool] : state.pools) {
    if (OwnCodeOf(spec) <= pool.unable.runs) continue;
    return absl::StrCat("the newest machine of pool ", name, " could not run it, and another one is ordered later: ",
                        "its image needs a rekindle-worker with --allow-code on and --python PATH");
  }
  return "";
}

}  // namespace rekindle::core

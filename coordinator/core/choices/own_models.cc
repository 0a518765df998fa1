#include "coordinator/core/choices/own_models.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agreed/allow_code.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

using scheduler::OwnCode;

// Returns why the node cannot run the job's own model, or an empty string.
std::string Flaw(const v1::NodeReport& report, const v1::JobSpec& spec) {
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
  if (OwnCodeOf(spec) <= OwnCodeOn(report)) return "";
  if (!report.has_interpreter()) {
    return "it has no Python for own models: start its rekindle-worker with --python PATH, or set "
           "spec.model.interpreter";
  }
  return absl::StrCat(Bounded(report.interpreter().path(), 200), " ", Bounded(report.interpreter().problem(), 300));
}

// Holds which of the usable nodes cannot run the job's own model.
struct Unable {
  size_t usable = 0;
  // `flaws` names the nodes that cannot, each as in "node a: it ...".
  std::vector<std::string> flaws;
};

Unable FindUnable(const State& state, const v1::JobSpec& spec) {
  Unable found;
  for (const auto& [name, node] : state.nodes) {
    const bool usable = node.reported && !node.lost && !node.record.draining() && node.error.empty();
    if (!usable || UsableSlots(node.report) == 0) continue;
    ++found.usable;
    const std::string flaw = Flaw(node.report, spec);
    if (!flaw.empty()) found.flaws.push_back(absl::StrCat("node ", Bounded(name, 100), ": ", flaw));
  }
  return found;
}

std::string Describe(const Unable& unable) {
  const size_t others = unable.flaws.size() - 1;
  return absl::StrCat(unable.flaws.front(), others == 0   ? ""
                                            : others == 1 ? "; another node cannot either"
                                                          : absl::StrCat("; ", others, " other nodes cannot either"));
}

bool HasOwnModel(const v1::JobSpec& spec) { return OwnCodeOf(spec) != OwnCode::kNone; }

}  // namespace

std::string UnfitForOwnModel(const State& state, const v1::JobSpec& spec) {
  if (!HasOwnModel(spec)) return "";
  const bool orders = std::any_of(state.prices.pools.begin(), state.prices.pools.end(),
                                  [](const auto& pool) { return pool.second.ordered; });
  const Unable unable = FindUnable(state, spec);
  if (orders || unable.usable == 0 || unable.flaws.size() < unable.usable) return "";
  return absl::StrCat("spec.model.python: no node can run it (", Describe(unable), ")");
}

std::string DescribeUnable(const State& state, const v1::JobSpec& spec) {
  if (!HasOwnModel(spec)) return "";
  const Unable unable = FindUnable(state, spec);
  return unable.flaws.empty() ? "" : Describe(unable);
}

}  // namespace rekindle::core

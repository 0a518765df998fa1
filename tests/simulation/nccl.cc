// Models how GPUs exchange: by NCCL, which may hang, or over their hosts.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLongestHang = 30;
// Some exchanges hang for longer than a schedule lasts.
constexpr double kForEver = 1e6;
// An abort that does not end is given up after some seconds, so the report of it comes after that of the interruption.
constexpr double kLongestAbort = 5;

}  // namespace

// Gives the node a GPU and one of two versions of NCCL, or neither.
void SimCluster::TakeGpu(SimNode& node) {
  if (!options_.gpus || chance_.Happens(0.1)) return;
  node.nccl_version = chance_.Happens(0.85) ? kNcclVersion : kOtherNcclVersion;
}

// Makes NCCL hang in some job.
void SimCluster::HangNccl() {
  SimJob& job = AnyJob();
  job.nccl_hangs_until = queue_.now() + (chance_.Happens(0.3) ? kForEver : chance_.Uniform(1, kLongestHang));
  Note(absl::StrCat("NCCL hangs in ", job.options.name, " until ", job.nccl_hangs_until));
}

// Returns whether what the process's generation exchanges comes to its end.
bool SimCluster::MayExchange(Process& process) {
  const bool by_nccl = FabricOf(process).membership.transport() == v1::TRANSPORT_NCCL;
  if (!by_nccl || process.job->nccl_hangs_until <= queue_.now()) return true;
  tally_.Count(Fault::kNcclHung);
  return false;
}

// Lets the process say that NCCL hangs in its generation, and end that generation.
void SimCluster::EndByNccl(Process& process) {
  Say(process,
      [](train::Reporter& r) { r.Update([](train::Report& report) { report.device->nccl_failed = true; }, false); });
  Abort(process, kAccusesNobody, {});
}

// Sometimes the abort of NCCL hangs as well. Then the process enters no generation until that is given up, and does not
// use NCCL any more.
void SimCluster::LeaveNccl(Process& process) {
  if (FabricOf(process).membership.transport() != v1::TRANSPORT_NCCL || !chance_.Happens(0.1)) return;
  process.aborts_until = queue_.now() + chance_.Uniform(0.01, kLongestAbort);
  AtProcess(process.id, process.aborts_until - queue_.now(), [this](Process& p) {
    tally_.Count(Fault::kNcclLeft);
    Say(p, [](train::Reporter& r) { r.Update([](train::Report& report) { report.device->nccl_left = true; }, true); });
  });
}

// Checks that members exchange by NCCL only if all of them have one version, and that they do where nothing has gone
// wrong. A process that has left NCCL may not have said so yet.
void SimCluster::CheckTransport(const SimJob& job, const v1::Membership& membership) {
  std::set<int> versions;
  bool any_left = false;
  for (const v1::Member& member : membership.members()) {
    const Process& process = processes_[member.trainer()];
    versions.insert(process.report.device().nccl_version());
    any_left = any_left || process.aborts_until > 0;
  }
  const bool can = versions.size() == 1 && *versions.begin() > 0 && membership.members_size() > 1;
  const bool does = membership.transport() == v1::TRANSPORT_NCCL;
  if (does) tally_.Count(Fault::kExchangeByNccl);
  if (does && !can) Violate(absl::StrCat("generation ", membership.generation(), " cannot exchange by NCCL"));
  if (can && !does && !any_left && job.nccl_hangs_until == 0) {
    Violate(absl::StrCat("generation ", membership.generation(), " could exchange by NCCL"));
  }
}

}  // namespace rekindle::core::simulation

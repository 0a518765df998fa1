#include "tests/simulation/exchange/nccl.h"

namespace rekindle::core::simulation {
namespace {

// An abort that does not end is given up after some seconds, so the report of it comes after that of the interruption.
constexpr double kLongestAbort = 5;

}  // namespace

bool Nccl::MayExchange(const Process& process) {
  const bool by_nccl = FabricOf(process).membership.transport() == v1::TRANSPORT_NCCL;
  if (!by_nccl || process.job->nccl_hangs_until <= world_.now()) return true;
  world_.journal.Count(Fault::kNcclHung);
  return false;
}

void Nccl::Leave(Process& process) {
  if (FabricOf(process).membership.transport() != v1::TRANSPORT_NCCL || !world_.chance.Happens(0.1)) return;
  process.aborts_until = world_.now() + world_.chance.Uniform(0.01, kLongestAbort);
  world_.AtProcess(process.id, process.aborts_until - world_.now(), [this](Process& p) {
    world_.journal.Count(Fault::kNcclLeft);
    voice_.Say(
        p, [](train::Reporter& r) { r.Update([](train::Report& report) { report.device->nccl_left = true; }, true); });
  });
}

}  // namespace rekindle::core::simulation

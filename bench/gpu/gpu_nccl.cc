#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/gpu/gpu_device.h"
#include "bench/gpu/gpu_parts.h"
#include "common/time/clock.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/nccl/nccl_api.h"
#include "worker/comm/nccl/nccl_session.h"

namespace rekindle::gpu {
namespace {

// `kFloats` floats are 256 MiB.
constexpr std::size_t kFloats = 64 << 20;
constexpr int kRounds = 10;

// Holds what a rank finds: its problem, and the seconds of one all-reduce.
struct Result {
  std::string problem;
  double seconds = 0;
};

// Lets a moment pass between two looks at NCCL. A peer that is missing ends the check after a minute.
comm::NcclSession::GoOn Patience() {
  return [until = common::SteadySeconds() + 60] {
    std::this_thread::yield();
    return common::SteadySeconds() < until;
  };
}

// Times the all-reduce of arrays in which rank r holds r + 1 everywhere, and checks the sums on the host.
Result RunRank(const RekindleNcclApi& nccl, const std::vector<unsigned char>& id, int world, int rank) {
  using Outcome = comm::NcclSession::Outcome;
  Must(cudaSetDevice(rank), "device");
  comm::NcclSession session(nccl);
  if (session.Join(rank, world, rank, id.data(), Patience()) != Outcome::kDone) {
    return {absl::StrCat("joining: ", session.error())};
  }
  cudaStream_t stream;
  Must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  const std::vector<float> mine(kFloats, static_cast<float>(rank + 1));
  const Array<float> in(mine), out(kFloats);
  // The copies to the device ran on the default stream, so the host waits for them before it uses another stream.
  Must(cudaDeviceSynchronize(), "device");
  Result result;
  const double start = common::SteadySeconds();
  for (int i = 0; i < kRounds && result.problem.empty(); ++i) {
    const bool started = session.Start({.kind = RekindleNcclOperation::kAllReduce,
                                        .type = static_cast<uint32_t>(comm::DataType::kFloat32),
                                        .op = static_cast<uint32_t>(comm::ReduceOp::kSum),
                                        .in = in.get(),
                                        .out = out.get(),
                                        .count = kFloats,
                                        .stream = stream});
    if (!started || session.Settle(Patience()) != Outcome::kDone) result.problem = session.error();
  }
  if (result.problem.empty()) Must(cudaStreamSynchronize(stream), "all-reduce");
  result.seconds = (common::SteadySeconds() - start) / kRounds;
  const auto sum = static_cast<float>(world * (world + 1)) / 2;
  if (result.problem.empty()) result.problem = Difference("sum", out.Host(), std::vector<float>(kFloats, sum));
  session.End(result.problem.empty() ? comm::NcclSession::Way::kInOrder : comm::NcclSession::Way::kAbort);
  if (!session.AwaitEnd(60) && result.problem.empty()) result.problem = "NCCL's communicator does not end";
  Must(cudaStreamDestroy(stream), "stream");
  return result;
}

}  // namespace

void CheckNccl(const RekindleNcclApi* nccl, int devices) {
  if (nccl == nullptr) return Print({{"skipped", "nccl"}, {"detail", "the plugin was built without NCCL"}});
  std::vector<unsigned char> id(kRekindleNcclIdBytes);
  char error[256] = "";
  if (nccl->make_id(id.data(), error, sizeof(error)) != kRekindleNcclDone) {
    if (std::string(error).starts_with("cannot be loaded")) return Print({{"skipped", "nccl"}, {"detail", error}});
    return PrintCheck("nccl", error);
  }
  std::vector<Result> results(static_cast<std::size_t>(devices));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < devices; ++rank) {
    threads.emplace_back([&, rank] { results[static_cast<std::size_t>(rank)] = RunRank(*nccl, id, devices, rank); });
  }
  threads.clear();
  double slowest = 0;
  std::string problem;
  for (const Result& result : results) {
    slowest = std::max(slowest, result.seconds);
    if (problem.empty()) problem = result.problem;
  }
  PrintCheck(absl::StrCat("nccl all-reduce between ", devices, devices == 1 ? " GPU (no peers)" : " GPUs"), problem);
  // Bus bandwidth counts what each GPU sends. With a single GPU there is none.
  if (devices == 1) return Print({{"skipped", "nccl bandwidth"}, {"detail", "one GPU: nothing crosses a link"}});
  if (problem.empty()) {
    const double bus = 2.0 * (devices - 1) / devices * kFloats * sizeof(float);
    Print({{"name", "nccl_all_reduce_bus"}, {"gb_per_s", bus / slowest / 1e9}, {"own_limit", true}});
  }
}

}  // namespace rekindle::gpu

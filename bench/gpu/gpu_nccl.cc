#include <array>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/gpu/gpu_device.h"
#include "bench/gpu/gpu_parts.h"
#include "common/time/clock.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/nccl/nccl_communicator.h"

namespace rekindle::gpu {
namespace {

// `kFloats` floats are 256 MiB, which the all-reduce cuts into four pieces.
constexpr std::size_t kFloats = 64 << 20;
constexpr int kRounds = 10;

// Holds what a rank finds: its problem, and the seconds of one all-reduce.
struct Result {
  std::string problem;
  double seconds = 0;
};

// Times the all-reduce of arrays in which rank r holds r + 1 everywhere, and checks the sums on the host.
Result RunRank(comm::Communicator& comm) {
  Must(cudaSetDevice(comm.rank()), "device");
  cudaStream_t stream;
  Must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  const std::vector<float> mine(kFloats, static_cast<float>(comm.rank() + 1));
  const Array<float> in(mine), out(kFloats);
  // The copies to the device ran on the default stream, so the host waits for them before it uses another stream.
  Must(cudaDeviceSynchronize(), "device");
  Result result;
  const double start = common::SteadySeconds();
  for (int i = 0; i < kRounds && result.problem.empty(); ++i) {
    const absl::Status status =
        comm.AllReduce(in.get(), out.get(), kFloats, comm::DataType::kFloat32, comm::ReduceOp::kSum, stream).Wait();
    if (!status.ok()) result.problem = status.ToString();
  }
  result.seconds = (common::SteadySeconds() - start) / kRounds;
  const auto world = static_cast<float>(comm.world_size());
  if (result.problem.empty()) {
    result.problem = Difference("sum", out.Host(), std::vector<float>(kFloats, world * (world + 1) / 2));
  }
  Must(cudaStreamDestroy(stream), "stream");
  return result;
}

}  // namespace

void CheckNccl(const RekindleNcclApi* nccl, int devices) {
  if (nccl == nullptr) return Print({{"skipped", "nccl"}, {"detail", "the plugin was built without NCCL"}});
  unsigned char id[kRekindleNcclIdBytes];
  char error[256] = "";
  if (nccl->make_id(id, error, sizeof(error)) != kRekindleNcclDone &&
      std::string(error).starts_with("cannot be loaded")) {
    return Print({{"skipped", "nccl"}, {"detail", error}});
  }
  std::vector<std::unique_ptr<comm::Listener>> listeners;
  comm::HostOptions options{.deadlines = {.connect_seconds = 60, .progress_seconds = 30}};
  for (int rank = 0; rank < devices; ++rank) {
    auto listener = comm::Listener::Create("127.0.0.1:0", "gpu-check");
    if (!listener.ok()) return PrintCheck("nccl", listener.status().ToString());
    options.peers.push_back({absl::StrCat("127.0.0.1:", (*listener)->port()), "one"});
    listeners.push_back(*std::move(listener));
  }
  std::vector<Result> results(static_cast<std::size_t>(devices));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < devices; ++rank) {
    threads.emplace_back([&, rank, mine = options]() mutable {
      mine.rank = rank;
      auto comm = comm::ConnectNccl(*listeners[rank], std::move(mine), {.api = nccl, .device = rank}, nullptr, nullptr);
      if (comm.ok()) results[rank] = RunRank(**comm);
      if (!comm.ok()) results[rank].problem = comm.status().ToString();
      if (comm.ok()) (*comm)->Close();
    });
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

// Times all-reduces of float32 between processes of this machine. It also measures the limits, which are a copy in
// memory and loopback TCP.
//
//   rekindle-bench-allreduce --world N --transport shm|tcp --mib 1,16,64 [--repeats R]
//   rekindle-bench-allreduce --limits
//
// The output is one line of JSON: {"16": [seconds, ...], ...} as rank 0 measures them, or {"memcpy_gb_s": x,
// "loopback_gb_s": y}.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/links/socket.h"

namespace rekindle {
namespace {

using comm::UniqueFd;
using nlohmann::json;

constexpr int kWarmUp = 2;
constexpr int kMaxWorld = 64;

struct Plan {
  int world = 2;
  std::string transport = "shm";
  std::vector<int> mib = {1, 16, 64, 256};
  // If `repeats` is 0, the number of repeats depends on the size of the buffer: a larger buffer has fewer repeats.
  int repeats = 0;
};

comm::WaitLimit Soon() { return {common::SteadySeconds() + 30, nullptr}; }

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  _exit(1);
}

void Check(const absl::Status& status) {
  if (!status.ok()) Die(status.ToString());
}

// Returns the seconds of each repetition of the all-reduce. There is a barrier before each of them.
std::vector<double> Measure(comm::Communicator& comm, int mib, int repeats) {
  std::vector<float> buffer(static_cast<size_t>(mib) << 18);
  std::vector<double> seconds;
  for (int i = 0; i < repeats + kWarmUp; ++i) {
    std::fill(buffer.begin(), buffer.end(), 1.0f);
    float one = 1;
    Check(comm.AllReduce(&one, &one, 1, comm::DataType::kFloat32, comm::ReduceOp::kSum).Wait());
    const double start = common::SteadySeconds();
    Check(comm.AllReduce(buffer.data(), buffer.data(), buffer.size(), comm::DataType::kFloat32, comm::ReduceOp::kSum)
              .Wait());
    if (i >= kWarmUp) seconds.push_back(common::SteadySeconds() - start);
    if (buffer.front() != comm.world_size() || buffer.back() != comm.world_size()) Die("a wrong sum");
  }
  return seconds;
}

// Runs one rank. It sends its port to the parent, receives the ports of all ranks, and measures. Rank 0 prints the
// result.
void RunRank(const Plan& plan, int rank, int parent) {
  auto listener = comm::Listener::Create("127.0.0.1:0", "bench");
  Check(listener.status());
  const int32_t port = (*listener)->port();
  Check(comm::WriteFull(parent, &port, sizeof(port), Soon()));
  std::vector<int32_t> ports(plan.world);
  Check(comm::ReadFull(parent, ports.data(), ports.size() * sizeof(port), Soon()));
  comm::HostOptions options{.generation = 1, .rank = rank, .allow_shared_memory = plan.transport == "shm"};
  for (const int32_t p : ports) options.peers.push_back({absl::StrCat("127.0.0.1:", p), comm::HostIdentity()});
  options.deadlines = {.connect_seconds = 30, .progress_seconds = 60};
  auto connected = comm::ConnectHost(**listener, options, nullptr, nullptr);
  Check(connected.status());
  json result;
  for (const int mib : plan.mib) {
    const int repeats = plan.repeats > 0 ? plan.repeats : std::clamp(400 / mib, 5, 40);
    result[std::to_string(mib)] = Measure(**connected, mib, repeats);
  }
  (*connected)->Close();
  if (rank == 0) std::printf("%s\n", result.dump().c_str());
}

int RunWorld(const Plan& plan) {
  std::vector<UniqueFd> children;
  for (int rank = 0; rank < plan.world; ++rank) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) Die("socketpair failed");
    if (fork() == 0) {
      close(fds[0]);
      children.clear();
      RunRank(plan, rank, fds[1]);
      std::fflush(stdout);
      _exit(0);
    }
    close(fds[1]);
    children.emplace_back(fds[0]);
  }
  std::vector<int32_t> ports(plan.world);
  for (int rank = 0; rank < plan.world; ++rank) {
    Check(comm::ReadFull(children[rank].get(), &ports[rank], sizeof(int32_t), Soon()));
  }
  for (const UniqueFd& child : children) {
    Check(comm::WriteFull(child.get(), ports.data(), ports.size() * sizeof(int32_t), Soon()));
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed |= status;
  return failed == 0 ? 0 : 1;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double MemcpyGbs() {
  constexpr size_t kBytes = size_t{256} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i) {
    const double start = common::SteadySeconds();
    std::memcpy(to.data(), from.data(), kBytes);
    rates.push_back(kBytes / (common::SteadySeconds() - start) / 1e9);
  }
  return Median(rates);
}

// Returns the rate in GB/s at which one thread sends to another through a TCP connection of the loopback interface.
double LoopbackGbs() {
  constexpr size_t kBytes = size_t{256} << 20;
  int port = 0;
  auto server = comm::ListenTcp("127.0.0.1:0", &port);
  Check(server.status());
  auto client = comm::ConnectTcp(absl::StrCat("127.0.0.1:", port), Soon());
  Check(client.status());
  Check(comm::WaitReady(server->get(), POLLIN, Soon()));
  UniqueFd accepted(accept(server->get(), nullptr, nullptr));
  std::vector<char> from(kBytes, 1), to(kBytes);
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i) {
    const double start = common::SteadySeconds();
    std::jthread reader([&] { Check(comm::ReadFull(accepted.get(), to.data(), kBytes, Soon())); });
    Check(comm::WriteFull(client->get(), from.data(), kBytes, Soon()));
    reader.join();
    rates.push_back(kBytes / (common::SteadySeconds() - start) / 1e9);
  }
  return Median(rates);
}

int Main(int argc, char** argv) {
  CLI::App app{"Times all-reduces between processes of this machine."};
  Plan plan;
  bool limits = false;
  app.add_option("--world", plan.world, "processes")->check(CLI::Range(1, kMaxWorld));
  app.add_option("--transport", plan.transport)->check(CLI::IsMember({"shm", "tcp"}));
  app.add_option("--mib", plan.mib, "sizes, comma separated")->delimiter(',')->check(CLI::Range(1, 4096));
  app.add_option("--repeats", plan.repeats)->check(CLI::NonNegativeNumber);
  app.add_flag("--limits", limits, "measure memcpy and loopback TCP instead");
  CLI11_PARSE(app, argc, argv);
  if (!limits) return RunWorld(plan);
  std::printf("%s\n", json{{"memcpy_gb_s", MemcpyGbs()}, {"loopback_gb_s", LoopbackGbs()}}.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rekindle

int main(int argc, char** argv) { return rekindle::Main(argc, argv); }

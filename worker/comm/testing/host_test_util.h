// Helps to test the host transport. Ranks are threads, each with a Listener of its own, over real sockets.
#ifndef REKINDLE_WORKER_COMM_TESTING_HOST_TEST_UTIL_H_
#define REKINDLE_WORKER_COMM_TESTING_HOST_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener.h"

namespace rekindle::comm {

inline constexpr char kSecret[] = "a secret of the job";

struct HostRanks {
  explicit HostRanks(int world) {
    for (int rank = 0; rank < world; ++rank) {
      listeners.push_back(*Listener::Create("127.0.0.1:0", kSecret));
      peers.push_back({absl::StrCat("127.0.0.1:", listeners.back()->port()), "one host"});
    }
  }
  HostOptions Options(int rank, int generation, bool shared_memory) const {
    HostOptions options{.generation = generation, .rank = rank, .peers = peers};
    options.allow_shared_memory = shared_memory;
    return options;
  }
  // Connects all ranks at once. A rank's entry is null if it could not connect.
  std::vector<std::unique_ptr<Communicator>> Connect(int generation, bool shared_memory,
                                                     const std::function<void(HostOptions&)>& change = nullptr) {
    std::vector<std::unique_ptr<Communicator>> ranks(peers.size());
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < peers.size(); ++rank) {
      threads.emplace_back([&, rank] {
        HostOptions options = Options(static_cast<int>(rank), generation, shared_memory);
        if (change) change(options);
        auto comm = ConnectHost(*listeners[rank], std::move(options), nullptr, nullptr);
        EXPECT_TRUE(comm.ok()) << comm.status();
        if (comm.ok()) ranks[rank] = *std::move(comm);
      });
    }
    return ranks;
  }

  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<Peer> peers;
};

// Runs `body` in one thread per rank, with the rank's communicator.
template <typename Body>
void ForEach(std::vector<std::unique_ptr<Communicator>>& ranks, Body body) {
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) {
    if (rank) threads.emplace_back([&body, &rank] { body(*rank); });
  }
}

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_TESTING_HOST_TEST_UTIL_H_

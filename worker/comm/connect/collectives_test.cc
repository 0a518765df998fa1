// Tests every collective operation against a reference, for all types, odd sizes and worlds of 1 to 5, in memory and
// over sockets.
#include "worker/comm/rings/collectives.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "worker/comm/testing/in_process.h"

namespace rekindle::comm {
namespace {

// The arrays that the tests reduce or send have these numbers of elements. The numbers lie around the sizes at which
// collectives change from direct exchange to rings, and around the sizes of chunks and of the links' rings.
const size_t kCounts[] = {0, 1, 2, 3, 7, 64, 1000, 4097, 16385, 70001};

class Collectives : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  int world() const { return std::get<0>(GetParam()); }
  std::vector<std::unique_ptr<Communicator>> Make() {
    return MakeInProcess(world(), 1, {.progress_seconds = 60},
                         {.sockets = std::get<1>(GetParam()), .ring_bytes = 64 << 10});
  }
  // Runs `body` in one thread per rank, with the rank's communicator.
  template <typename Body>
  void ForEachRank(Body body) {
    auto ranks = Make();
    std::vector<std::jthread> threads;
    for (auto& rank : ranks) {
      threads.emplace_back([&body, &rank] {
        body(*rank);
        rank->Close();
      });
    }
    threads.clear();
    for (auto& rank : ranks) EXPECT_TRUE(rank->status().ok()) << rank->status();
  }
};

// Returns the input of rank `rank`: any bits for integers, and floats whose sums are exact.
template <typename T>
T Value(int rank, size_t i) {
  const uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15 + rank * 0xbf58476d1ce4e5b9;
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(static_cast<int>(mixed >> 44) - (1 << 19)) / 16;
  return static_cast<T>(mixed ^ (mixed >> 31));
}

template <typename T>
std::vector<T> Values(int rank, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = Value<T>(rank, i);
  return values;
}

template <typename T>
std::vector<T> Reference(int world, size_t count, ReduceOp op) {
  std::vector<T> result = Values<T>(0, count);
  for (size_t i = 0; i < count; ++i) {
    for (int rank = 1; rank < world; ++rank) {
      const T value = Value<T>(rank, i);
      if (op == ReduceOp::kMax) {
        result[i] = std::max(result[i], value);
      } else if constexpr (std::is_same_v<T, float>) {
        result[i] += value;
      } else {
        result[i] = static_cast<T>(static_cast<uint64_t>(result[i]) + static_cast<uint64_t>(value));
      }
    }
  }
  return result;
}

template <typename T>
void CheckAllReduce(Communicator& comm, DataType type) {
  for (const size_t count : kCounts) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax}) {
      const std::vector<T> in = Values<T>(comm.rank(), count);
      const std::vector<T> expected = Reference<T>(comm.world_size(), count, op);
      std::vector<T> out(count), in_place = in;
      const Work first = comm.AllReduce(in.data(), out.data(), count, type, op);
      const Work second = comm.AllReduce(in_place.data(), in_place.data(), count, type, op);
      ASSERT_TRUE(first.Wait().ok()) << first.Wait();
      ASSERT_TRUE(second.Wait().ok()) << second.Wait();
      EXPECT_TRUE(out == expected) << count;
      EXPECT_TRUE(in_place == expected) << count;
    }
  }
}

TEST_P(Collectives, AllReduceOfFloats) {
  ForEachRank([](Communicator& comm) { CheckAllReduce<float>(comm, DataType::kFloat32); });
}
TEST_P(Collectives, AllReduceOfIntegers) {
  ForEachRank([](Communicator& comm) { CheckAllReduce<int64_t>(comm, DataType::kInt64); });
}
TEST_P(Collectives, AllReduceOfBytes) {
  ForEachRank([](Communicator& comm) { CheckAllReduce<uint8_t>(comm, DataType::kUint8); });
}

TEST_P(Collectives, AllReduceInSeveralBlocks) {
  constexpr size_t kMany = 500'009;
  const std::vector<int64_t> expected = Reference<int64_t>(world(), kMany, ReduceOp::kSum);
  ForEachRank([&](Communicator& comm) {
    std::vector<int64_t> data = Values<int64_t>(comm.rank(), kMany);
    const Work work = comm.AllReduce(data.data(), data.data(), kMany, DataType::kInt64, ReduceOp::kSum);
    ASSERT_TRUE(work.Wait().ok()) << work.Wait();
    EXPECT_TRUE(data == expected);
  });
}

TEST_P(Collectives, SumsThatRoundAreTheSameBitsEverywhere) {
  for (const size_t count : {size_t{100}, size_t{50001}}) {
    std::vector<std::vector<float>> out(world(), std::vector<float>(count));
    ForEachRank([&](Communicator& comm) {
      std::mt19937 random(comm.rank());
      std::normal_distribution<float> normal;
      std::vector<float> in(count);
      for (float& value : in) value = normal(random);
      ASSERT_TRUE(
          comm.AllReduce(in.data(), out[comm.rank()].data(), count, DataType::kFloat32, ReduceOp::kSum).Wait().ok());
    });
    for (const auto& values : out) EXPECT_EQ(std::memcmp(values.data(), out[0].data(), count * 4), 0);
  }
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  ForEachRank([](Communicator& comm) {
    for (const size_t bytes : kCounts) {
      for (int root = 0; root < comm.world_size(); ++root) {
        std::vector<uint8_t> buffer = Values<uint8_t>(comm.rank(), bytes);
        const Work work = comm.Broadcast(buffer.data(), bytes, root);
        ASSERT_TRUE(work.Wait().ok()) << work.Wait();
        EXPECT_TRUE(buffer == Values<uint8_t>(root, bytes)) << bytes << " from " << root;
      }
    }
  });
}

TEST_P(Collectives, AllGather) {
  ForEachRank([](Communicator& comm) {
    for (const size_t bytes : kCounts) {
      const std::vector<uint8_t> in = Values<uint8_t>(comm.rank(), bytes);
      std::vector<uint8_t> out(bytes * comm.world_size()), expected;
      for (int rank = 0; rank < comm.world_size(); ++rank) {
        const std::vector<uint8_t> part = Values<uint8_t>(rank, bytes);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const Work work = comm.AllGather(in.data(), out.data(), bytes);
      ASSERT_TRUE(work.Wait().ok()) << work.Wait();
      EXPECT_TRUE(out == expected) << bytes;
    }
  });
}

TEST_P(Collectives, SendAndReceiveBetweenAllPairs) {
  ForEachRank([](Communicator& comm) {
    for (const size_t bytes : kCounts) {
      for (int from = 0; from < comm.world_size(); ++from) {
        for (int to = 0; to < comm.world_size(); ++to) {
          if (from == to || (comm.rank() != from && comm.rank() != to)) continue;
          std::vector<uint8_t> buffer = Values<uint8_t>(comm.rank(), bytes);
          const Work work =
              comm.rank() == from ? comm.Send(buffer.data(), bytes, to) : comm.Recv(buffer.data(), bytes, from);
          ASSERT_TRUE(work.Wait().ok()) << work.Wait();
          EXPECT_TRUE(buffer == Values<uint8_t>(from, bytes));
        }
      }
    }
  });
}

TEST_P(Collectives, ManyOperationsQueuedAtOnce) {
  ForEachRank([](Communicator& comm) {
    constexpr int kOperations = 200;
    std::vector<std::vector<int64_t>> buffers;
    for (int i = 0; i < kOperations; ++i) buffers.emplace_back(1 + (i * 37) % 5000, comm.rank() + i);
    std::vector<Work> works;
    for (auto& b : buffers) {
      works.push_back(comm.AllReduce(b.data(), b.data(), b.size(), DataType::kInt64, ReduceOp::kSum));
    }
    const int world = comm.world_size();
    for (int i = 0; i < kOperations; ++i) {
      ASSERT_TRUE(works[i].Wait().ok());
      EXPECT_EQ(buffers[i].back(), world * (world - 1) / 2 + world * i);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Collectives, testing::Combine(testing::Range(1, 6), testing::Bool()),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "Sockets" : "Memory");
                         });

// Stragglers are judged by send_blocked_seconds(). If rank 1 of a ring receives slowly, only rank 0 has to wait for the
// link that it sends on.
TEST(SendBlocked, IsThePredecessorsOfASlowRank) {
  InProcessFaults faults;
  auto ranks = MakeInProcess(3, 1, {.progress_seconds = 60}, {.ring_bytes = 64 << 10, .faults = &faults});
  faults.Slow(1, 64 << 10, 0.001);
  const std::vector<float> in(3 << 20);
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) {
    threads.emplace_back([&] {
      std::vector<float> out(in.size());
      EXPECT_TRUE(rank->AllReduce(in.data(), out.data(), in.size(), DataType::kFloat32, ReduceOp::kSum).Wait().ok());
      rank->Close();
    });
  }
  threads.clear();
  const double blocked = ranks[0]->send_blocked_seconds();
  // Rank 0 has to wait about 0.25 s in all to send 16 MiB to the slow rank 1.
  EXPECT_GT(blocked, 0.05);
  EXPECT_GT(blocked, 2 * ranks[1]->send_blocked_seconds());
  EXPECT_GT(blocked, 2 * ranks[2]->send_blocked_seconds());
}

}  // namespace
}  // namespace rekindle::comm

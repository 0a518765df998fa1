// Tests which connections a listener refuses: those with another secret, a past generation or another protocol, slow
// ones and too many of them.
#include "worker/comm/connect/listener.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "worker/comm/testing/host_test_util.h"
#include "worker/comm/watch/handshake.h"

namespace rekindle::comm {
namespace {

WaitLimit Seconds(double seconds) { return {common::SteadySeconds() + seconds, nullptr}; }

class ListenerTest : public testing::Test {
 protected:
  UniqueFd Dial() { return *ConnectTcp(hosts.peers[0].address, Seconds(5)); }
  Hello HelloOf(int generation) {
    Hello hello{.generation = generation, .from = 1, .to = 0, .world_size = 2};
    hello.nonce = RandomNonce();
    return hello;
  }
  // Returns true once the other side has closed the connection.
  bool Closes(int fd, double seconds) {
    char byte;
    return absl::IsUnavailable(ReadFull(fd, &byte, 1, Seconds(seconds)));
  }
  ListenerStats stats() { return hosts.listeners[0]->stats(); }
  // Expects that two honest ranks can still connect.
  void ExpectOpenFor(int generation) {
    auto ranks = hosts.Connect(generation, true);
    ForEach(ranks, [](Communicator& comm) {
      float one = 1, sum = 0;
      EXPECT_TRUE(comm.AllReduce(&one, &sum, 1, DataType::kFloat32, ReduceOp::kSum).Wait().ok());
      EXPECT_EQ(sum, 2);
      comm.Close();
    });
  }

  HostRanks hosts{2};
};

TEST_F(ListenerTest, AnotherSecretIsRefusedByBothSides) {
  // If the secrets differ, the connector notices it first.
  UniqueFd fd = Dial();
  EXPECT_TRUE(absl::IsPermissionDenied(ConnectorHandshake(fd.get(), "another", HelloOf(1), Seconds(5))));
  // If the connector continues although the secrets differ, the acceptor refuses it.
  fd = Dial();
  const Hello hello = HelloOf(1);
  Challenge challenge;
  ASSERT_TRUE(WriteFull(fd.get(), &hello, sizeof(hello), Seconds(5)).ok());
  ASSERT_TRUE(ReadFull(fd.get(), &challenge, sizeof(challenge), Seconds(5)).ok());
  const Mac proof = MakeProof("another", hello, challenge.nonce);
  ASSERT_TRUE(WriteFull(fd.get(), &proof, sizeof(proof), Seconds(5)).ok());
  EXPECT_TRUE(Closes(fd.get(), 5));
  EXPECT_EQ(stats().refused, 1);
  EXPECT_EQ(stats().authenticated, 0);
  ExpectOpenFor(1);
}

TEST_F(ListenerTest, ARecordedConversationIsWorthless) {
  const Hello hello = HelloOf(1);
  Mac recorded{};
  for (int round = 0; round < 2; ++round) {
    UniqueFd fd = Dial();
    Challenge challenge;
    ASSERT_TRUE(WriteFull(fd.get(), &hello, sizeof(hello), Seconds(5)).ok());
    ASSERT_TRUE(ReadFull(fd.get(), &challenge, sizeof(challenge), Seconds(5)).ok());
    if (round == 0) recorded = MakeProof(kSecret, hello, challenge.nonce);
    ASSERT_TRUE(WriteFull(fd.get(), &recorded, sizeof(recorded), Seconds(5)).ok());
    if (round == 1) {
      EXPECT_TRUE(Closes(fd.get(), 5));
    }
  }
  EXPECT_EQ(stats().refused, 1);
}

TEST_F(ListenerTest, TheAcceptorsProofIsNotTheConnectors) {
  const Hello hello = HelloOf(1);
  const Challenge challenge = MakeChallenge(kSecret, hello);
  EXPECT_FALSE(Equal(challenge.mac, MakeProof(kSecret, hello, challenge.nonce)));
  Hello other = hello;
  other.generation = 2;
  EXPECT_FALSE(Equal(MakeProof(kSecret, hello, challenge.nonce), MakeProof(kSecret, other, challenge.nonce)));
}

TEST_F(ListenerTest, PastGenerationsAreRefused) {
  ExpectOpenFor(5);
  UniqueFd fd = Dial();
  EXPECT_FALSE(ConnectorHandshake(fd.get(), kSecret, HelloOf(4), Seconds(5)).ok());
  EXPECT_EQ(stats().stale, 1);
  // A connection that waits for its generation is dropped when a later generation comes.
  fd = Dial();
  ASSERT_TRUE(ConnectorHandshake(fd.get(), kSecret, HelloOf(6), Seconds(5)).ok());
  ExpectOpenFor(7);
  EXPECT_TRUE(Closes(fd.get(), 5));
  EXPECT_EQ(stats().stale, 2);
}

TEST_F(ListenerTest, AConnectionForALaterGenerationWaits) {
  std::jthread early([&] {
    auto comm = ConnectHost(*hosts.listeners[1], hosts.Options(1, 9, true), nullptr, nullptr);
    EXPECT_TRUE(comm.ok()) << comm.status();
  });
  while (stats().authenticated == 0) std::this_thread::yield();
  auto comm = ConnectHost(*hosts.listeners[0], hosts.Options(0, 9, true), nullptr, nullptr);
  EXPECT_TRUE(comm.ok()) << comm.status();
}

TEST_F(ListenerTest, OtherProtocolsAndImpossibleRanksAreDropped) {
  std::vector<std::string> nonsense{
      std::string(sizeof(Hello), 'x'),
      "GET / HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n" + std::string(sizeof(Hello), '\n')};
  for (int kind = 0; kind < 4; ++kind) {
    Hello hello = HelloOf(1);
    if (kind == 0) hello.magic[7] = '1';
    if (kind == 1) hello.world_size = 1 << 30;
    if (kind == 2) hello.from = -1;
    if (kind == 3) hello.to = 1;
    nonsense.emplace_back(reinterpret_cast<const char*>(&hello), sizeof(hello));
  }
  for (const std::string& bytes : nonsense) {
    UniqueFd fd = Dial();
    ASSERT_TRUE(WriteFull(fd.get(), bytes.data(), bytes.size(), Seconds(5)).ok());
    EXPECT_TRUE(Closes(fd.get(), 5));
  }
  EXPECT_EQ(stats().foreign, static_cast<int64_t>(nonsense.size()));
  ExpectOpenFor(1);
}

TEST_F(ListenerTest, TheSlowAreDroppedAndDisturbNobody) {
  UniqueFd silent = Dial();
  UniqueFd half = Dial();
  const Hello hello = HelloOf(1);
  ASSERT_TRUE(WriteFull(half.get(), &hello, sizeof(hello) / 2, Seconds(5)).ok());
  const double start = common::SteadySeconds();
  ExpectOpenFor(1);
  EXPECT_LT(common::SteadySeconds() - start, 2.5);
  EXPECT_TRUE(Closes(silent.get(), 10));
  EXPECT_TRUE(Closes(half.get(), 10));
  EXPECT_EQ(stats().timed_out, 2);
}

TEST_F(ListenerTest, ManyHalfOpenConnectionsDoNotKeepOthersOut) {
  std::vector<UniqueFd> crowd;
  for (int i = 0; i < 160; ++i) crowd.push_back(Dial());
  ExpectOpenFor(1);
  EXPECT_GT(stats().crowded_out, 0);
}

TEST_F(ListenerTest, ARankThatIsTakenForAnotherIsNotConnected) {
  // A third rank believes that it is rank 2 of 3 and that rank 1 listens at the address that is in fact rank 0's.
  HostRanks wrong(3);
  wrong.peers[1] = hosts.peers[0];
  std::jthread confused([&] {
    HostOptions options = wrong.Options(2, 1, true);
    options.deadlines.connect_seconds = 0.5;
    EXPECT_FALSE(ConnectHost(*wrong.listeners[2], options, nullptr, nullptr).ok());
  });
  HostOptions options = hosts.Options(0, 1, true);
  options.deadlines.connect_seconds = 0.5;
  std::vector<Accusation> accused;
  EXPECT_FALSE(ConnectHost(*hosts.listeners[0], options, nullptr, &accused).ok());
  ASSERT_EQ(accused.size(), 1u);
  EXPECT_EQ(accused[0].rank, 1);
}

TEST_F(ListenerTest, RanksOfTwoMembershipsWithOneNumberNeverMeet) {
  // Ranks 0 and 1 belong to one membership. Another rank 1 with another membership dials all the time.
  std::jthread other([&] {
    HostRanks wrong(2);
    wrong.peers[0] = hosts.peers[0];
    HostOptions options = wrong.Options(1, 4, true);
    options.membership = "another";
    options.deadlines.connect_seconds = 1;
    EXPECT_FALSE(ConnectHost(*wrong.listeners[1], options, nullptr, nullptr).ok());
  });
  while (stats().authenticated == 0) std::this_thread::yield();
  auto ranks = hosts.Connect(4, true, [](HostOptions& options) { options.membership = "one"; });
  ForEach(ranks, [](Communicator& comm) {
    float one = 1, sum = 0;
    EXPECT_TRUE(comm.AllReduce(&one, &sum, 1, DataType::kFloat32, ReduceOp::kSum).Wait().ok());
    EXPECT_EQ(sum, 2);
    comm.Close();
  });
}

}  // namespace
}  // namespace rekindle::comm

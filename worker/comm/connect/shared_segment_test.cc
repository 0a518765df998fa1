#include "worker/comm/connect/shared_segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <thread>

namespace rekindle::comm {
namespace {

// Holds the segments of ranks 0 and 1 of 2, each with its owner's mapping and its peer's.
struct Ends {
  Ends() {
    for (int rank = 0; rank < 2; ++rank) own[rank] = *SharedSegment::Create(rank, 2, 2);
    for (int rank = 0; rank < 2; ++rank) theirs[rank] = *SharedSegment::Open(own[1 - rank]->offer(), 1 - rank, 2, 2);
  }
  RingLink Link(int rank) {
    return RingLink(theirs[rank]->Ring(rank), own[rank]->Ring(1 - rank), theirs[rank]->bell(), nullptr, nullptr);
  }
  std::shared_ptr<SharedSegment> own[2], theirs[2];
};

TEST(SharedSegment, CarriesBytesBothWaysAroundTheRing) {
  Ends ends;
  RingLink a = ends.Link(0), b = ends.Link(1);
  std::mt19937 random(1);
  std::vector<uint8_t> out(3000), in(3000);
  // The test sends enough messages to go around the segment's ring several times.
  for (int message = 0; message < 2000; ++message) {
    const size_t bytes = random() % out.size();
    for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(random());
    ASSERT_EQ(a.TrySend(out.data(), bytes, false), static_cast<ssize_t>(bytes));
    a.FinishSend();
    for (size_t got = 0; got < bytes;) {
      ASSERT_TRUE(b.CanRecv());
      const ssize_t n = b.TryRecv(in.data() + got, bytes - got);
      ASSERT_GT(n, 0);
      got += n;
    }
    EXPECT_FALSE(b.CanRecv());
    b.FinishRecv();
    ASSERT_TRUE(std::equal(out.begin(), out.begin() + bytes, in.begin()));
  }
}

TEST(SharedSegment, AFullRingTakesNoMore) {
  Ends ends;
  RingLink a = ends.Link(0), b = ends.Link(1);
  std::vector<uint8_t> data(8 << 20, 7);
  const ssize_t taken = a.TrySend(data.data(), data.size(), false);
  EXPECT_EQ(taken, static_cast<ssize_t>(ends.own[0]->Ring(1).capacity));
  EXPECT_FALSE(a.CanSend());
  EXPECT_EQ(a.TrySend(data.data(), 1, false), 0);
  bool closed = true;
  EXPECT_EQ(b.Peek(64, &closed).size(), 64u);
  EXPECT_FALSE(closed);
  b.Consume(64);
  EXPECT_TRUE(a.CanSend());
}

TEST(SharedSegment, NonsenseOfThePeerIsAClosedLink) {
  for (const uint64_t nonsense : {uint64_t{1} << 40, uint64_t{5} << 20, ~uint64_t{0} - (uint64_t{5} << 20)}) {
    Ends ends;
    RingLink a = ends.Link(0);
    ends.own[0]->Ring(1).positions->head.store(nonsense);
    uint8_t byte;
    EXPECT_TRUE(a.CanRecv());
    EXPECT_EQ(a.TryRecv(&byte, 1), kLinkClosed);
    ends.own[1]->Ring(0).positions->tail.store(nonsense);
    EXPECT_TRUE(a.CanSend());
    EXPECT_EQ(a.TrySend(&byte, 1, false), kLinkClosed);
  }
}

TEST(SharedSegment, RefusesWhatIsNotTheOfferedMemory) {
  auto segment = *SharedSegment::Create(0, 2, 2);
  SegmentOffer offer = segment->offer();
  EXPECT_TRUE(SharedSegment::Open(offer, 0, 2, 2).ok());
  EXPECT_FALSE(SharedSegment::Open(SegmentOffer{}, 0, 2, 2).ok());
  // Rank 0 offers a segment for 2 ranks. A peer that expects one for 3 ranks must refuse it, because the layout
  // differs.
  EXPECT_FALSE(SharedSegment::Open(offer, 0, 3, 3).ok());
  SegmentOffer other_token = offer;
  other_token.token[0] ^= 1;
  EXPECT_FALSE(SharedSegment::Open(other_token, 0, 2, 2).ok());
  SegmentOffer a_stream = offer;
  a_stream.descriptor = STDERR_FILENO;
  EXPECT_FALSE(SharedSegment::Open(a_stream, 0, 2, 2).ok());
  // A segment without seals must be refused although it has the right size, because its owner could shrink it under a
  // reader.
  UniqueFd unsealed(memfd_create("unsealed", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(unsealed.get(), static_cast<off_t>(offer.bytes)), 0);
  SegmentOffer shrinkable = offer;
  shrinkable.descriptor = unsealed.get();
  EXPECT_FALSE(SharedSegment::Open(shrinkable, 0, 2, 2).ok());
}

TEST(Doorbell, NoWakeUpIsLost) {
  Doorbell bell{};
  std::atomic<int> value = 0;
  std::jthread writer([&] {
    for (int i = 1; i <= 20000; ++i) {
      value.store(i);
      bell.Ring();
    }
  });
  for (int seen = 0; seen < 20000; seen = value.load()) {
    const uint32_t ticket = bell.Announce(Doorbell::kOnFutex);
    if (value.load() == seen) bell.Wait(ticket);
    bell.Awake();
  }
}

}  // namespace
}  // namespace rekindle::comm

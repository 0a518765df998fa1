// Runs several nodes' checkpoint services in one process over real connections. The tests check where copies of shards
// go, where restores read from, and what happens when copies are damaged or their holders die.
#include "checkpoint/service/tiers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "checkpoint/service/peer_service.h"
#include "checkpoint/testing/testing.h"
#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/memory/shared_memory.h"
#include "common/rpc/rpc.h"
#include "common/testing/fault_file.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kJob[] = "job";
constexpr int64_t kBytes = 3000;

struct Node {
  Node(std::string name, const std::string& folder)
      : name(name), peer_staging(folder, name + "-peer-", 1 << 20), staging(folder, name + "-", 1 << 20) {
    Serve(&service);
  }
  void Serve(grpc::Service* what) { server = common::Server::Start({}, {what}).value(); }
  Peer AsPeer() const { return {name, server->address(), ""}; }

  std::string name;
  Staging peer_staging, staging;
  MemoryTier own, copies;
  Peers peers;
  common::Metrics metrics;
  Tiers tiers{staging, own, copies, peers, metrics};
  PeerService service{peer_staging, copies, own};
  std::unique_ptr<common::Server> server;
};

class TiersTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // The log level is raised because the tests damage hundreds of shards on purpose.
    ::setenv("REKINDLE_LOG_LEVEL", "error", 1);
    log::Init("tiers_test");
  }
  void SetUp() override {
    owner_ = {.job_uid = kJob, .trainer = "t", .process = common::Identify(::getpid()).value(), .generation = 1};
    for (const char* name : {"a", "b", "c"}) nodes_.push_back(std::make_unique<Node>(name, folder_));
    Meet();
  }
  void TearDown() override { nodes_.clear(); }
  void Meet() {
    std::vector<Peer> all;
    for (const auto& node : nodes_) all.push_back(node->AsPeer());
    for (const auto& node : nodes_) node->peers.Set(node->AsPeer(), all);
  }

  // Returns a shard of random bytes.
  static std::string Content(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string content(kBytes, '\0');
    for (char& c : content) c = static_cast<char>(random());
    return content;
  }
  static ShardRef RefOf(const std::string& content, int generation = 1) {
    const std::string xxh3 = common::Xxh3_128Hex(content);
    return {.name = xxh3 + ".safetensors", .bytes = kBytes, .xxh3 = xxh3, .generation = generation, .count = 1};
  }
  static Manifest ManifestFor(const ShardRef& ref, int step) {
    return {
        .job_uid = kJob, .generation = ref.generation, .step = step, .writer = "w", .shards = {ref}, .scalars = "{}"};
  }
  // Hands over a shard as a trainer of `node` does.
  ShardRef HandOver(Node& node, const std::string& content, int step) {
    const auto segment = node.tiers.Open(owner_, kBytes).value();
    std::ofstream(segment->path, std::ios::in | std::ios::binary) << content;
    const ShardRef ref = RefOf(content);
    node.tiers.HandOver(kJob, {1, step}, ref.xxh3, segment);
    node.staging.Release(owner_, {segment->name});
    return ref;
  }
  // Polls until `node` holds the copy of the shard, because copying has no event.
  static bool AwaitCopy(Node& node, const ShardRef& ref) {
    const double until = common::SteadySeconds() + 20;
    while (node.copies.Find(kJob, ref.xxh3) == nullptr) {
      if (common::SteadySeconds() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void PutIntoStore(const std::string& content, const ShardRef& ref) {
    ASSERT_TRUE(store_.PutShard(kJob, ContentOf({content.begin(), content.end()}), kBytes, ref.xxh3).ok());
  }
  absl::StatusOr<Tiers::Materialised> Materialise(Node& node, const ShardRef& ref) {
    return node.tiers.Materialise(store_, owner_, ref, [] { return false; });
  }
  static std::string BytesOf(const Tiers::Materialised& materialised) {
    const auto memory =
        common::SharedMemory::Map(materialised.segment->path, kBytes, common::SharedMemory::Access::kRead);
    return memory.ok() ? std::string(reinterpret_cast<const char*>(memory->data()), kBytes) : "";
  }
  static void Flip(const std::string& path, uint64_t bit) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(bit / 8));
    const char byte = static_cast<char>(file.get() ^ (1 << bit % 8));
    file.seekp(static_cast<std::streamoff>(bit / 8));
    file.put(byte);
  }
  void FlipInStore(const ShardRef& ref, uint64_t bit) {
    const std::string path = "/store/" + std::string(kJob) + "/shards/" + ref.name;
    std::string content = fs_.Get(path);
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ (1 << bit % 8));
    fs_.Put(path, content);
  }

  common::TemporaryFolder temporary_{"/dev/shm"};
  const std::string folder_ = temporary_.path();
  SegmentOwner owner_;
  std::vector<std::unique_ptr<Node>> nodes_;
  common::FaultFileSystem fs_;
  Store store_{fs_, "/store"};
};

TEST_F(TiersTest, TheCheapestSourceThatHasIt) {
  Node &a = *nodes_[0], &b = *nodes_[1], &c = *nodes_[2];
  const std::string content = Content(1);
  const ShardRef ref = HandOver(a, content, 10);
  ASSERT_TRUE(AwaitCopy(b, ref));
  PutIntoStore(content, ref);
  for (const auto& [node, tier] : {std::pair{&a, Tier::kMemory}, {&b, Tier::kMemory}, {&c, Tier::kPeer}}) {
    const auto materialised = Materialise(*node, ref);
    ASSERT_TRUE(materialised.ok()) << materialised.status();
    EXPECT_EQ(materialised->tier, tier) << node->name;
    EXPECT_EQ(BytesOf(*materialised), content);
  }
  a.own.KeepJobs({});
  b.copies.KeepJobs({});
  // Node c asks its peers again what they hold, and so learns that nodes a and b have forgotten the shard.
  ASSERT_TRUE(c.peers.List(kJob).size() == 2);
  const auto materialised = Materialise(c, ref);
  ASSERT_TRUE(materialised.ok()) << materialised.status();
  EXPECT_EQ(materialised->tier, Tier::kStore);
  EXPECT_EQ(BytesOf(*materialised), content);
}

TEST_F(TiersTest, NewerInMemoryThanInTheStore) {
  Node &a = *nodes_[0], &b = *nodes_[1], &c = *nodes_[2];
  const std::string old_content = Content(1), content = Content(2);
  const ShardRef old_ref = RefOf(old_content);
  PutIntoStore(old_content, old_ref);
  ASSERT_TRUE(store_.PutManifest(ManifestFor(old_ref, 10)).ok());
  const ShardRef ref = HandOver(a, content, 20);
  ASSERT_TRUE(AwaitCopy(b, ref));
  a.tiers.Announce(ManifestFor(ref, 20));
  for (Node* node : {&a, &b, &c}) {
    const auto newest = node->tiers.FindNewest(store_, kJob, {.verify = true});
    ASSERT_TRUE(newest.ok()) << newest.status();
    EXPECT_EQ(newest->name, "1-20-w") << node->name;
    EXPECT_TRUE(node->tiers.ReadManifest(store_, kJob, "1-20-w").ok());
  }
  // Nodes a and b, which both held a shard of the checkpoint 1-20-w, die. Node c reports this checkpoint as skipped,
  // and finds the older one in the store.
  a.server->Shutdown(0);
  b.server->Shutdown(0);
  c.copies.PutManifest(ManifestFor(ref, 20));
  c.own.PutManifest(ManifestFor(ref, 20));
  const auto newest = c.tiers.FindNewest(store_, kJob, {.verify = true});
  ASSERT_TRUE(newest.ok()) << newest.status();
  EXPECT_EQ(newest->name, "1-10-w");
  EXPECT_THAT(newest->skipped, ElementsAre(HasSubstr("1-20-w: was not durable yet, and plane 0 of shard 0 of 1")));
}

TEST_F(TiersTest, AStoreThatCannotBeListedIsAnError) {
  fs_.FailAt(0, absl::UnavailableError("no network"), true);
  EXPECT_TRUE(absl::IsUnavailable(nodes_[0]->tiers.FindNewest(store_, kJob, {.verify = true}).status()));
}

// Flips a bit of a shard in any of the tiers that hold it: its node's memory, a peer's memory and the store. A reader
// uses the next valid tier and never gets wrong bytes.
TEST_F(TiersTest, FlippedBitsInEveryTier) {
  constexpr int kTrials = kThinned ? 50 : 1000;
  const char* fixed = std::getenv("REKINDLE_SEED");
  const uint64_t seed = fixed != nullptr ? std::strtoull(fixed, nullptr, 10) : std::random_device()();
  std::cout << "REKINDLE_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  Node &a = *nodes_[0], &b = *nodes_[1], &c = *nodes_[2];
  int by_tier[3] = {}, none = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::string content = Content(random());
    const ShardRef ref = HandOver(a, content, trial + 1);
    ASSERT_TRUE(AwaitCopy(b, ref));
    PutIntoStore(content, ref);
    const uint64_t damaged = random() % 8;
    const auto bit = [&] { return random() % (kBytes * 8); };
    if (damaged & 1) Flip(a.own.Find(kJob, ref.xxh3)->path, bit());
    if (damaged & 2) Flip(b.copies.Find(kJob, ref.xxh3)->path, bit());
    if (damaged & 4) FlipInStore(ref, bit());
    // The reader knows only what its peers said when it last asked them, so it asks again which shards they hold.
    c.peers.List(kJob);
    Node& reader = random() % 2 ? a : c;
    if (&reader == &a) a.peers.List(kJob);
    const auto materialised = Materialise(reader, ref);
    if (damaged == 7) {
      ASSERT_FALSE(materialised.ok()) << "trial " << trial;
      ++none;
    } else {
      ASSERT_TRUE(materialised.ok()) << "trial " << trial << ": " << materialised.status();
      ASSERT_EQ(BytesOf(*materialised), content) << "trial " << trial;
      ++by_tier[static_cast<int>(materialised->tier)];
    }
    if (materialised.ok()) reader.staging.Release(owner_, {materialised->name});
    ASSERT_TRUE(a.own.PutManifest(ManifestFor(ref, trial + 1)) && b.copies.PutManifest(ManifestFor(ref, trial + 1)));
    fs_.Erase("/store/" + std::string(kJob) + "/shards/" + ref.name);
  }
  std::cout << "from memory " << by_tier[0] << ", a peer " << by_tier[1] << ", the store " << by_tier[2] << ", none "
            << none << "\n";
  for (const int count : by_tier) EXPECT_GT(count, 0);
  EXPECT_GT(none, 0);
}

// Acts as a peer that lists a shard, sends half of it, and dies.
class DyingPeer final : public v1::CheckpointPeers::Service {
 public:
  DyingPeer(std::string content, std::string xxh3) : content_(std::move(content)), xxh3_(std::move(xxh3)) {}
  grpc::Status List(grpc::ServerContext*, const v1::ListHeldRequest*, v1::ListHeldReply* reply) override {
    reply->add_xxh3(xxh3_);
    return grpc::Status::OK;
  }
  grpc::Status Fetch(grpc::ServerContext*, const v1::FetchRequest*, grpc::ServerWriter<v1::FetchReply>* out) override {
    v1::FetchReply half;
    half.set_data(content_.substr(0, content_.size() / 2));
    out->Write(half);
    return {grpc::StatusCode::UNAVAILABLE, "dies"};
  }

 private:
  const std::string content_, xxh3_;
};

TEST_F(TiersTest, APeerThatDiesWhileItServes) {
  Node &b = *nodes_[1], &c = *nodes_[2];
  const std::string content = Content(5);
  const ShardRef ref = RefOf(content);
  DyingPeer dying(content, ref.xxh3);
  b.Serve(&dying);
  Meet();
  // Half of a shard is not usable, so the shard is not found.
  EXPECT_TRUE(absl::IsNotFound(Materialise(c, ref).status()));
  PutIntoStore(content, ref);
  const auto materialised = Materialise(c, ref);
  ASSERT_TRUE(materialised.ok()) << materialised.status();
  EXPECT_EQ(materialised->tier, Tier::kStore);
  EXPECT_EQ(BytesOf(*materialised), content);
  // Node c has given back the memory into which it tried to fetch the shard from the peer that died half-way.
  EXPECT_EQ(c.staging.bytes() - c.staging.idle_bytes(), kBytes);
  b.server.reset();
}

TEST_F(TiersTest, EveryShardOfACheckpointIsCopied) {
  Node &a = *nodes_[0], &b = *nodes_[1];
  std::vector<ShardRef> refs;
  for (uint64_t i = 0; i < 150; ++i) refs.push_back(HandOver(a, Content(i), 10));
  EXPECT_TRUE(std::all_of(refs.begin(), refs.end(), [&](const ShardRef& ref) { return AwaitCopy(b, ref); }));
}

TEST_F(TiersTest, CopiesAreBoundedAndVerified) {
  Node &a = *nodes_[0], &b = *nodes_[1];
  const std::string content = Content(6);
  const auto bytes = std::span(reinterpret_cast<const uint8_t*>(content.data()), content.size());
  const Peer peer = b.AsPeer();
  EXPECT_TRUE(absl::IsDataLoss(a.peers.Hold(peer, kJob, {1, 1}, std::string(32, '0'), bytes)));
  EXPECT_TRUE(absl::IsInvalidArgument(a.peers.Hold(peer, "../job", {1, 1}, RefOf(content).xxh3, bytes)));
  EXPECT_TRUE(absl::IsInvalidArgument(a.peers.Hold(peer, kJob, {1, 1}, "../../etc/passwd", bytes)));
  EXPECT_EQ(b.peer_staging.bytes(), b.peer_staging.idle_bytes());
  // Node b gets more copies of shards than it has room for, so it forgets older ones.
  for (int step = 1; step <= 800; ++step) {
    const std::string next = Content(static_cast<uint64_t>(step));
    const auto span = std::span(reinterpret_cast<const uint8_t*>(next.data()), next.size());
    ASSERT_TRUE(a.peers.Hold(peer, "job-" + std::to_string(step), {1, step}, RefOf(next).xxh3, span).ok()) << step;
  }
  EXPECT_LE(b.peer_staging.bytes(), 1 << 20);
}

TEST(ChooseReplica, AnotherZoneThenAnotherNode) {
  const auto choose = [](const std::string& self, const std::string& zone, std::vector<Peer> others) {
    return ChooseReplica({self, "", zone}, std::move(others)).node;
  };
  EXPECT_EQ(choose("a", "", {}), "");
  EXPECT_EQ(choose("a", "", {{"c", "x", ""}, {"b", "x", ""}}), "b");
  EXPECT_EQ(choose("c", "", {{"a", "x", ""}, {"b", "x", ""}}), "a");
  const std::vector<Peer> all = {{"a1", "x", "A"}, {"a2", "x", "A"}, {"b1", "x", "B"}, {"b2", "x", "B"}};
  EXPECT_EQ(choose("a1", "A", all), "b1");
  EXPECT_EQ(choose("a2", "A", all), "b2");
  EXPECT_EQ(choose("b2", "B", all), "a2");
  // If all peers are in the node's own zone, one of them is still chosen to hold its copies.
  EXPECT_EQ(choose("a1", "A", {{"a2", "x", "A"}}), "a2");
}

}  // namespace
}  // namespace rekindle::checkpoint

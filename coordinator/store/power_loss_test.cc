// Tests that what a SqliteStore has called durable is there after a loss of power between any two operations on its
// files, and after a failure of any of these operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/store/testing/power_loss_disk.h"
#include "coordinator/store/testing/power_loss_vfs.h"

namespace rekindle::coordinator {
namespace {

// The write-ahead log is copied into the database when it has `kLogPages` pages. These are so few that the log is
// copied, and begun again, even in a short sequence of operations.
constexpr int kLogPages = 12;
// For each operation at which power is lost, the test tries `kDrawnLosses` random outcomes, and those where all or
// nothing of the unsynced changes is kept.
constexpr int kDrawnLosses = 8;
// The test runs `kHistories` long random sequences of operations.
constexpr int kHistories = 150;

uint64_t Seed() {
  const char* given = std::getenv("REKINDLE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

// Holds the whole content of a store.
struct Content {
  // `revision` is the revision of the newest transaction. No entry has a higher one.
  int64_t revision = 0;
  std::map<std::string, Entry> entries;
  std::vector<v1::Event> events;

  // Returns what the store must contain after the transaction. REQUIRES: all conditions of the transaction hold.
  Content After(const Transaction& transaction) const {
    Content next = *this;
    ++next.revision;
    for (const Write& write : transaction.writes) {
      if (write.value) {
        next.entries[write.key] = {write.key, *write.value, next.revision};
      } else {
        next.entries.erase(write.key);
      }
    }
    next.events.insert(next.events.end(), transaction.events.begin(), transaction.events.end());
    return next;
  }
  int32_t LastEvent() const { return events.empty() ? 0 : events.back().revision(); }
};

// Returns how the store differs from the wanted content, or "" when it does not differ.
std::string Difference(SqliteStore& store, const Content& wanted) {
  const auto entries = store.List("");
  if (!entries.ok()) return absl::StrCat("entries: ", entries.status().ToString());
  if (entries->size() != wanted.entries.size()) {
    return absl::StrCat(entries->size(), " entries, not ", wanted.entries.size());
  }
  for (const Entry& entry : *entries) {
    const auto found = wanted.entries.find(entry.key);
    if (found == wanted.entries.end()) return absl::StrCat("entry ", entry.key, " was never confirmed");
    if (found->second.revision != entry.revision) {
      return absl::StrCat(entry.key, " has revision ", entry.revision, ", not ", found->second.revision);
    }
    if (found->second.value != entry.value) return absl::StrCat("the value of ", entry.key, " differs");
  }
  const auto events = store.Events(0, "", 1 << 20);
  if (!events.ok()) return absl::StrCat("events: ", events.status().ToString());
  if (events->size() != wanted.events.size()) {
    return absl::StrCat(events->size(), " events, not ", wanted.events.size());
  }
  for (size_t i = 0; i < events->size(); ++i) {
    if ((*events)[i].SerializeAsString() != wanted.events[i].SerializeAsString()) return absl::StrCat("event ", i);
  }
  const auto last = store.LastEventRevision();
  if (!last.ok()) return absl::StrCat("last event: ", last.status().ToString());
  return *last == wanted.LastEvent() ? "" : absl::StrCat("the last event is ", *last, ", not ", wanted.LastEvent());
}

// A Client uses the store. It knows the effect of all confirmed transactions, and what else the store may contain after
// transactions that failed.
class Client {
 public:
  Client() : vfs_(&disk_) {}
  PowerLossDisk& disk() { return disk_; }

  absl::Status Open() {
    store_.reset();
    auto store = SqliteStore::Open("state.db", {.vfs = vfs_.name(), .log_pages = kLogPages});
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
    const bool is_uncertain = !uncertain_.empty();
    std::string differences = FindOut();
    // The simulated disk may have made one read of FindOut fail, so FindOut is called once more.
    if (!differences.empty() && !disk_.lost()) differences = FindOut();
    if (!disk_.lost()) {
      EXPECT_EQ(differences, "") << (is_uncertain ? "one was under way" : "none was under way");
    }
    return absl::OkStatus();
  }

  absl::Status Commit(const Transaction& transaction) {
    const Content next = confirmed_.After(transaction);
    const auto revision = store_->Commit(transaction);
    if (!revision.ok()) {
      uncertain_.push_back(next);
      return revision.status();
    }
    EXPECT_EQ(*revision, next.revision);
    confirmed_ = next;
    uncertain_.clear();
    return absl::OkStatus();
  }

  // Expects that the store has the confirmed content. As long as the process lives, a failed transaction must not be
  // visible.
  void ExpectConfirmed() { EXPECT_EQ(Difference(*store_, confirmed_), ""); }

  // Loses power, and opens the store with what the disk has kept. `seed` selects what that is.
  void Restart(uint64_t seed) {
    store_.reset();
    disk_.Crash(seed);
    const absl::Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened;
  }

  // Expects that the store works: it checks conditions and takes changes.
  void ExpectWorks() {
    const std::string key = "works";
    const auto found = confirmed_.entries.find(key);
    const int64_t revision = found == confirmed_.entries.end() ? 0 : found->second.revision;
    EXPECT_EQ(store_->Put(key, "never", revision + 1).status().code(), absl::StatusCode::kAborted);
    v1::Event event;
    event.set_revision(confirmed_.LastEvent() + 1);
    const absl::Status committed = Commit({{{key, "yes", revision}}, {event}});
    EXPECT_TRUE(committed.ok()) << committed;
    ExpectConfirmed();
  }

  const Content& confirmed() const { return confirmed_; }

 private:
  // Expects that the store has all of the confirmed content, or what an unfinished transaction would have made of it.
  // Returns what differs, or "" when nothing does.
  std::string FindOut() {
    std::string differences = Difference(*store_, confirmed_);
    for (const Content& content : uncertain_) {
      if (differences.empty()) break;
      const std::string difference = Difference(*store_, content);
      if (difference.empty()) confirmed_ = content;
      differences = difference.empty() ? "" : absl::StrCat(differences, "; or ", difference);
    }
    if (differences.empty()) uncertain_.clear();
    return differences;
  }

  PowerLossDisk disk_;
  PowerLossVfs vfs_;
  std::unique_ptr<SqliteStore> store_;
  Content confirmed_;
  // A transaction whose commit has failed may have taken effect all the same. `uncertain_` holds the content that the
  // store has in that case, for each such transaction.
  std::vector<Content> uncertain_;
};

Transaction Draw(std::mt19937_64& random, const Content& before) {
  Transaction transaction;
  const size_t writes = random() % 4;
  for (size_t i = 0; i < writes; ++i) {
    const std::string key = absl::StrCat("key", (random() % 6) * 4 + i);
    const auto found = before.entries.find(key);
    const int64_t revision = found == before.entries.end() ? 0 : found->second.revision;
    Write& write = transaction.writes.emplace_back(Write{key, std::nullopt, revision});
    const size_t sizes[] = {0, 40, 3000, 9000};
    if (random() % 4 != 0) write.value = std::string(sizes[random() % 4], static_cast<char>('a' + random() % 26));
  }
  // Each transaction has an event, so that the test can see whether it took effect.
  const size_t events = 1 + random() % 2;
  for (size_t i = 0; i < events; ++i) {
    v1::Event& event = transaction.events.emplace_back();
    event.set_revision(before.LastEvent() + 1 + static_cast<int32_t>(i));
    event.set_text(std::string(random() % 300, 'e'));
  }
  return transaction;
}

// Opens a store in an empty folder, changes it, closes it and opens it again. After an error other than the loss of
// power it goes on.
void PlayShortHistory(Client& client) {
  std::mt19937_64 random(7);
  for (int opening = 0; opening < 2; ++opening) {
    bool opened = client.Open().ok();
    if (!opened && !client.disk().lost()) opened = client.Open().ok();
    if (!opened) return;
    for (int i = 0; i < 7; ++i) {
      const Transaction transaction = Draw(random, client.confirmed());
      absl::Status committed = client.Commit(transaction);
      if (committed.ok()) continue;
      if (client.disk().lost()) return;
      client.ExpectConfirmed();
      committed = client.Commit(transaction);
      EXPECT_TRUE(committed.ok()) << "the second try: " << committed;
    }
  }
}

std::vector<PowerLossDisk::Operation> OperationsOfTheShortHistory() {
  Client client;
  PlayShortHistory(client);
  client.ExpectConfirmed();
  return client.disk().operations();
}

TEST(PowerLoss, BetweenAnyTwoOperations) {
  const uint64_t seed = Seed();
  const auto operations = OperationsOfTheShortHistory();
  int losses = 0;
  for (size_t at = 0; at < operations.size(); ++at) {
    if (!PowerLossDisk::Changes(operations[at])) continue;
    for (uint64_t drawn = 0; drawn < 2 + kDrawnLosses; ++drawn) {
      const uint64_t kept = drawn < 2 ? drawn : 2 + (seed * 1'000'003 + at * 1009 + drawn) % (1ULL << 40);
      SCOPED_TRACE(absl::StrCat("REKINDLE_SEED=", seed, ", power lost at operation ", at, ", what is kept: ", kept));
      Client client;
      client.disk().LosePowerAt(static_cast<int64_t>(at));
      PlayShortHistory(client);
      client.Restart(kept);
      if (HasFailure()) return;
      client.ExpectWorks();
      client.Restart(PowerLossDisk::kNothingUnsynced);
      if (HasFailure()) return;
      ++losses;
    }
  }
  std::printf("%d losses of power at %zu operations\n", losses, operations.size());
}

TEST(PowerLoss, AnyOperationFailsOnce) {
  const auto operations = OperationsOfTheShortHistory();
  for (size_t at = 0; at < operations.size(); ++at) {
    for (const auto result : {PowerLossDisk::Result::kFailed, PowerLossDisk::Result::kFull}) {
      for (const uint64_t kept : {PowerLossDisk::kNothingUnsynced, PowerLossDisk::kEverything, uint64_t{at + 2}}) {
        SCOPED_TRACE(absl::StrCat(result == PowerLossDisk::Result::kFull ? "disk full" : "error", " at operation ", at,
                                  ", what is kept: ", kept));
        Client client;
        client.disk().FailAt(static_cast<int64_t>(at), result);
        PlayShortHistory(client);
        if (HasFailure()) return;
        client.ExpectWorks();
        client.Restart(kept);
        if (HasFailure()) return;
        client.ExpectWorks();
      }
    }
  }
}

TEST(PowerLoss, AFullDiskIsSaid) {
  Client client;
  ASSERT_TRUE(client.Open().ok());
  client.ExpectWorks();
  for (int64_t i = 0;; ++i) {
    const auto so_far = static_cast<int64_t>(client.disk().operations().size());
    client.disk().FailAt(so_far + i, PowerLossDisk::Result::kFull);
    const absl::Status committed = client.Commit({{{"key", std::string(9000, 'x')}}, {}});
    if (committed.ok()) {
      EXPECT_GT(i, 3) << "none of its writes was refused";
      return;
    }
    const PowerLossDisk::Operation refused = client.disk().operations()[static_cast<size_t>(so_far + i)];
    if (refused == PowerLossDisk::Operation::kWrite) {
      EXPECT_EQ(committed.code(), absl::StatusCode::kResourceExhausted) << committed;
      EXPECT_NE(committed.message().find("free some disk space"), std::string::npos) << committed;
    }
    client.ExpectConfirmed();
  }
}

// Loses power several times, sometimes while the store is being opened again, with errors in between.
TEST(PowerLoss, AgainAndAgainInLongHistories) {
  const uint64_t seed = Seed();
  std::printf("REKINDLE_SEED=%llu plays it again\n", static_cast<unsigned long long>(seed));
  int losses = 0, commits = 0;
  for (int history = 0; history < kHistories; ++history) {
    SCOPED_TRACE(absl::StrCat("REKINDLE_SEED=", seed, ", history ", history));
    std::mt19937_64 random(seed * 1'000'003 + static_cast<uint64_t>(history));
    Client client;
    for (int life = 0; life < 8; ++life) {
      const auto so_far = static_cast<int64_t>(client.disk().operations().size());
      client.disk().LosePowerAt(so_far + static_cast<int64_t>(random() % (random() % 2 == 0 ? 40 : 400)));
      if (random() % 2 == 0) {
        client.disk().FailAt(so_far + static_cast<int64_t>(random() % 100), PowerLossDisk::Result::kFailed);
      }
      bool opened = client.Open().ok();
      while (!opened && !client.disk().lost()) opened = client.Open().ok();
      while (opened && !client.disk().lost()) {
        if (client.Commit(Draw(random, client.confirmed())).ok()) ++commits;
        if (random() % 16 == 0) opened = client.Open().ok();
      }
      ++losses;
      client.Restart(random() % 8 == 0 ? random() % 2 : random() | 2);
      if (HasFailure()) return;
      client.ExpectWorks();
      if (HasFailure()) return;
    }
  }
  std::printf("%d losses of power, %d confirmed transactions\n", losses, commits);
}

}  // namespace
}  // namespace rekindle::coordinator

// Keeps the packed bundles of jobs (common/bundle/bundle.h) in a folder. A bundle that arrives in pieces can go on
// after the connection or the coordinator was cut off.
#ifndef REKINDLE_COORDINATOR_BUNDLES_BUNDLE_SHELF_H_
#define REKINDLE_COORDINATOR_BUNDLES_BUNDLE_SHELF_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/disk_space.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::coordinator {

// The folder of the bundles in a coordinator's data folder.
inline constexpr char kBundleFolder[] = "bundles";

// A BundleShelf is thread-safe. Its functions read and write files, so the coordinator's loop must not call them,
// except for Has and Claim.
class BundleShelf {
 public:
  // All bundles have at most this share of their disk.
  static constexpr double kShareOfDisk = 0.1;
  // A bundle that no job names is kept so long after it was put, because its job may be submitted next. An unfinished
  // one is kept so long after its newest piece.
  static constexpr double kUnnamedSeconds = 600;
  static constexpr size_t kMaxUnfinished = 64;
  // A bundle of a few bytes costs a file, too, so their number has an end.
  static constexpr size_t kMaxBundles = 10'000;

  struct Options {
    std::string folder;
    // All bundles have at most `max_bytes` packed bytes together.
    int64_t max_bytes = 4LL << 30;
    size_t max_bundles = kMaxBundles;
    std::function<absl::StatusOr<common::DiskSpace>(const std::string&)> space = common::SpaceOf;
    // `wall` returns the Unix time. Ages of files are compared with it.
    common::TimeSource wall = common::WallSeconds;
  };

  // Makes the folder if it is missing, and finds what is in it.
  static absl::StatusOr<std::unique_ptr<BundleShelf>> Open(Options options);

  struct Progress {
    int64_t have = 0;
    bool complete = false;
  };
  // Begins to take a bundle of `bytes` packed bytes, or goes on with it. `named` has the bundles that jobs name. Others
  // are removed for it, the oldest first. INVALID_ARGUMENT says that the address or the size cannot be, and
  // RESOURCE_EXHAUSTED that there is no room, and what to do.
  absl::StatusOr<Progress> Begin(const std::string& address, int64_t bytes, const std::set<std::string>& named);
  // Takes the next piece, unless `offset` is not the end of what is there. After the last piece the bundle is checked.
  // DATA_LOSS says that it has another address, and removes it. NOT_FOUND says that it was not begun.
  absl::StatusOr<Progress> Append(const std::string& address, int64_t bytes, int64_t offset, const std::string& data);

  struct Piece {
    int64_t bytes = 0;
    std::string data;
  };
  // Returns a piece of a bundle that is complete. NOT_FOUND says that there is none, and OUT_OF_RANGE that the offset
  // is beyond its end.
  absl::StatusOr<Piece> Read(const std::string& address, int64_t offset);

  // Returns whether the bundle is complete. It only looks into memory.
  bool Has(const std::string& address) const;
  // Returns whether the bundle is complete, and keeps it for `kUnnamedSeconds` from now on, so that a job that is made
  // now finds it. It only looks into memory.
  bool Claim(const std::string& address);
  // Returns the addresses of all bundles that are complete. They are not removed as long as the result lives.
  std::shared_ptr<const std::set<std::string>> Hold();
  std::string PathOf(const std::string& address) const { return options_.folder + "/" + address; }

 private:
  struct Kept {
    int64_t bytes = 0;
    double at = 0;
  };
  struct Unfinished {
    // `bytes` is the size of the whole bundle, for which there is room. It is 0 for one that an earlier process began.
    int64_t bytes = 0;
    int64_t have = 0;
    double at = 0;
  };

  explicit BundleShelf(Options options) : options_(std::move(options)) {}
  std::string UnfinishedPath(const std::string& address) const { return PathOf(address) + ".part"; }
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeRoom(int64_t bytes, const std::set<std::string>& named) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t Used() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the oldest bundle that may go. Returns false if there is none. After true there may be no more room than
  // before, because the bundle was claimed meanwhile, and the caller tries again.
  bool RemoveOne(const std::set<std::string>& named) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Progress> Complete(const std::string& address) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the bundles that are claimed or held.
  std::set<std::string> Spared() const;
  // Takes the bundle out of `complete_`, so that no job can name it any more. Returns false if it is claimed or held.
  bool Withdraw(const std::string& address);
  bool IsSpared(const std::string& address, double claimed_at) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(complete_mutex_);
  void Publish(const std::string& address);

  const Options options_;
  mutable common::Mutex mutex_;
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Unfinished> unfinished_ ABSL_GUARDED_BY(mutex_);
  // `mutex_` may be held while a bundle is read and checked. `complete_` has the bundles in `kept_` for those who must
  // not wait, and when each was claimed last.
  mutable common::Mutex complete_mutex_;
  std::map<std::string, double> complete_ ABSL_GUARDED_BY(complete_mutex_);
  std::vector<std::weak_ptr<const std::set<std::string>>> held_ ABSL_GUARDED_BY(complete_mutex_);
};

// Puts a whole packed bundle into the bundle folder of a data folder that no coordinator has, durably. DATA_LOSS says
// that it is not the bundle `address`.
absl::Status PlaceBundle(const std::string& data, const std::string& address, const std::string& packed);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_BUNDLES_BUNDLE_SHELF_H_

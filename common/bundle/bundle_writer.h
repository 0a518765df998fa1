// Makes the packed form of a bundle.
#ifndef REKINDLE_COMMON_BUNDLE_BUNDLE_WRITER_H_
#define REKINDLE_COMMON_BUNDLE_BUNDLE_WRITER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/bundle/bundle.h"
#include "common/digest/sha256.h"

namespace rekindle::common {

struct PackedBundle {
  BundleSummary summary;
  std::string packed;
};

// Takes the files in the order of the bytes of their names. The class is thread-compatible. INVALID_ARGUMENT says that
// a name is unfit (BundleNames), RESOURCE_EXHAUSTED that the bundle is over one of its limits, and ABORTED that a file
// has another size than was said.
class BundleWriter {
 public:
  BundleWriter();
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;

  absl::Status Begin(const BundleEntry& entry);
  absl::Status Content(std::string_view piece);
  // Returns the bundle. The writer must not be used any more.
  absl::StatusOr<PackedBundle> Finish();

 private:
  struct Deflater;

  absl::Status CheckWhole() const;
  // Adds bytes to the plain form. With `last` they are the last ones.
  absl::Status Put(std::string_view bytes, bool last = false);

  std::unique_ptr<Deflater> deflater_;
  Sha256Hasher hasher_;
  BundleNames names_;
  std::string name_;
  int64_t left_ = 0;
  PackedBundle bundle_;
};

// Returns the plain form of a bundle of the given files. It is for tests and small bundles. REQUIRES: the names are in
// order.
struct PlainFile {
  std::string name;
  std::string content;
  bool executable = false;
};
std::string PlainBundle(const std::vector<PlainFile>& files);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_BUNDLE_WRITER_H_

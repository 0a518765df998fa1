// Reads the packed form of a bundle, which may be damaged or hostile, and checks its address.
#ifndef REKINDLE_COMMON_BUNDLE_BUNDLE_READER_H_
#define REKINDLE_COMMON_BUNDLE_BUNDLE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/bundle/bundle_parser.h"
#include "common/digest/sha256.h"
#include "common/files/file.h"

namespace rekindle::common {

// Takes the packed form in pieces of any size. It holds little in memory, whatever the bytes promise, and nothing that
// is over a limit of a bundle reaches the visitor. What the visitor has got is right only if Finish() says so. The
// class is thread-compatible. Errors are DATA_LOSS, or those of the visitor.
class BundleReader {
 public:
  explicit BundleReader(BundleVisitor visitor);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;

  absl::Status Take(std::string_view piece);
  // Returns what the bundle is, or DATA_LOSS if its address is not `address`.
  absl::StatusOr<BundleSummary> Finish(const std::string& address);

 private:
  struct Inflater;

  absl::Status TakeAny(std::string_view piece);

  BundleParser parser_;
  std::unique_ptr<Inflater> inflater_;
  Sha256Hasher hasher_;
  absl::Status status_;
  int64_t packed_bytes_ = 0;
  bool ended_ = false;
};

// Reads the packed bundle in a file, and checks that it is the bundle `address`.
absl::StatusOr<BundleSummary> ReadBundleFile(FileSystem& fs, const std::string& path, const std::string& address,
                                             BundleVisitor visitor);
inline absl::StatusOr<BundleSummary> CheckBundleFile(FileSystem& fs, const std::string& path,
                                                     const std::string& address) {
  return ReadBundleFile(fs, path, address, {});
}
// Checks that the bytes are the packed form of the bundle `address`.
absl::StatusOr<BundleSummary> CheckPackedBundle(std::string_view packed, const std::string& address);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_BUNDLE_READER_H_

// Reads the plain form of a bundle, which may be hostile.
#ifndef REKINDLE_COMMON_BUNDLE_BUNDLE_PARSER_H_
#define REKINDLE_COMMON_BUNDLE_BUNDLE_PARSER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/bundle/bundle.h"

namespace rekindle::common {

// Takes the files of a bundle, one after the other. An error ends the reading. A function that is not set takes
// nothing.
struct BundleVisitor {
  // Takes the name, mode and size of the next file.
  std::function<absl::Status(const BundleEntry&)> begin;
  // Takes the next bytes of that file. There are as many of them as `begin` was told.
  std::function<absl::Status(std::string_view)> content;
};

// Takes the plain form in pieces of any size and hands each file on at once, so it holds no content in memory. It is
// thread-compatible. Each error is DATA_LOSS or one of the visitor, and every later call returns it again.
class BundleParser {
 public:
  explicit BundleParser(BundleVisitor visitor) : visitor_(std::move(visitor)) {}

  absl::Status Take(std::string_view piece);
  // Returns OK if all of a bundle was taken. What the visitor got before is then the whole bundle.
  absl::Status Finish() const;

  int files() const { return files_; }
  int64_t bytes() const { return bytes_; }

 private:
  enum class State { kMagic, kNameLength, kName, kHead, kContent, kEnd };

  // Takes the next bytes of the current part, and removes them from the piece.
  absl::Status Step(std::string_view* piece);
  // Takes a part of a fixed length, which is whole in `part_`.
  absl::Status TakePart();
  absl::Status TakeHead();
  void Await(State state, size_t bytes);

  const BundleVisitor visitor_;
  absl::Status status_;
  State state_ = State::kMagic;
  size_t part_bytes_ = kBundleMagic.size();
  std::string part_;
  BundleNames names_;
  BundleEntry entry_;
  // `left_` is how much of the current file's content is still to come.
  int64_t left_ = 0;
  int files_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_BUNDLE_PARSER_H_

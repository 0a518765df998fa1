// The job's text, tokenised once into a memory-mapped file that all processes of a node share. Tokens are bytes
// (vocabulary 256).
//
// In the cache folder, `tokens-<fingerprint>` holds a header and the tokens; `index-<key>` maps the inputs' paths,
// sizes and times to a fingerprint, so that a second process reads none of the inputs. Both are written whole and
// renamed into place: any number of processes may create them at once. A file that is damaged in any byte is rebuilt.
#ifndef REKINDLE_WORKER_DATA_TOKEN_CACHE_H_
#define REKINDLE_WORKER_DATA_TOKEN_CACHE_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/text_files.h"

namespace rekindle::data {

// Owns the mapping. Immutable after Open, so safe to share between threads. Movable.
class TokenCache {
 public:
  // The first `max_bytes` bytes (0: all) of `files`, one after the other, as long as they are in `roots`. `folder` is
  // made if it is not there, for this user alone.
  // Reads every token once, to check the hash (several GB/s).
  // Errors: INVALID_ARGUMENT (no bytes at all), NOT_FOUND, PERMISSION_DENIED or FAILED_PRECONDITION (an input cannot
  // be read, the folder cannot be written), RESOURCE_EXHAUSTED (no space left: how much is needed, and where).
  static absl::StatusOr<TokenCache> Open(const std::vector<TextFile>& files, int64_t max_bytes,
                                         const std::string& folder, const DataRoots& roots = {});

  TokenCache(TokenCache&& other) noexcept { Swap(other); }
  TokenCache& operator=(TokenCache&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~TokenCache();

  // Valid as long as this object, even when the file is replaced.
  std::span<const uint8_t> tokens() const { return tokens_; }
  // XXH3-128 of the tokens, 32 hex digits: the same content on any machine has the same one.
  const std::string& fingerprint() const { return fingerprint_; }
  // No input had to be read.
  bool found() const { return found_; }

 private:
  TokenCache() = default;
  void Swap(TokenCache& other) {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(tokens_, other.tokens_);
    fingerprint_.swap(other.fingerprint_);
    std::swap(found_, other.found_);
  }
  // Maps and verifies the file; any damage is DATA_LOSS.
  static absl::StatusOr<TokenCache> Map(const std::string& path, const std::string& fingerprint);

  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::span<const uint8_t> tokens_;
  std::string fingerprint_;
  bool found_ = false;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_TOKEN_CACHE_H_

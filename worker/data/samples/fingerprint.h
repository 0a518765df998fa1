// Computes fingerprints that name content: the XXH3-128 as 32 hex digits, high half first.
#ifndef REKINDLE_WORKER_DATA_SAMPLES_FINGERPRINT_H_
#define REKINDLE_WORKER_DATA_SAMPLES_FINGERPRINT_H_

#include <xxhash.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace rekindle::data {

inline std::string Hex(XXH128_hash_t hash) {
  return absl::StrCat(absl::Hex(hash.high64, absl::kZeroPad16), absl::Hex(hash.low64, absl::kZeroPad16));
}

// Returns the fingerprint of a piece of memory.
inline std::string Fingerprint(const void* data, size_t size) { return Hex(XXH3_128bits(data, size)); }

// Computes the fingerprint of content that is added piece by piece.
class Fingerprinter {
 public:
  Fingerprinter() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }
  void Add(const void* data, size_t size) { XXH3_128bits_update(state_.get(), data, size); }
  std::string Finish() const { return Hex(XXH3_128bits_digest(state_.get())); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_SAMPLES_FINGERPRINT_H_

// Makes a manifest for tests and for the fuzzers' corpus.
#ifndef REKINDLE_CHECKPOINT_TESTING_MANIFEST_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_MANIFEST_TESTING_H_

#include <string>

#include "checkpoint/format/manifest.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {

// Returns a manifest with three shards of two planes, two tensors, a loss and no validation loss.
inline Manifest SomeManifest() {
  Manifest manifest{.job_uid = "job-1",
                    .generation = 7,
                    .step = 1200,
                    .writer = "node-a_0",
                    .tensors = {{"token_embedding", {256, 8}}, {"bias", {}}},
                    .loss = 2.25,
                    .state_digest = "0123456789abcdef",
                    .scalars = R"({"cursor":4800,"exponents":[1,-2]})",
                    .spec_digest = "feed"};
  for (int i = 0; i < 6; ++i) {
    const std::string hash = common::Xxh3_128Hex(std::string(1, static_cast<char>('a' + i)));
    manifest.shards.push_back({.name = hash + ".safetensors",
                               .bytes = 1000 + i,
                               .xxh3 = hash,
                               .generation = 7,
                               .index = i / 2,
                               .count = 3,
                               .plane = i % 2});
  }
  return manifest;
}

// Returns `body` in the frame of a manifest file, with the right checksum.
inline std::string Framed(const std::string& body) {
  return R"({"xxh3":")" + common::Xxh3_128Hex(body) + R"(","manifest":)" + body + "}\n";
}

inline std::string BodyOf(const Manifest& manifest) {
  const std::string text = EncodeManifest(manifest);
  const size_t start = text.find(R"("manifest":)") + 11;
  return text.substr(start, text.size() - start - 2);
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_MANIFEST_TESTING_H_

// A JSON document in a frame with its checksum, so that no byte of the file can change unseen:
//
//   {"xxh3":"<XXH3-128 of the inner text>","NAME":<inner text>} and a newline
#ifndef REKINDLE_CHECKPOINT_FRAMED_JSON_H_
#define REKINDLE_CHECKPOINT_FRAMED_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

std::string FrameJson(const std::string& name, std::string_view inner);
// The inner text, which is a part of `text`. DATA_LOSS, beginning with `name`: frame or checksum is wrong.
absl::StatusOr<std::string_view> UnframeJson(const std::string& name, std::string_view text);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FRAMED_JSON_H_

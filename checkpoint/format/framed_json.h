// Puts a JSON document into a frame with its checksum, so that any change of a byte in the file is noticed:
//
//   {"xxh3":"<XXH3-128 of the inner text>","NAME":<inner text>} and a newline
#ifndef REKINDLE_CHECKPOINT_FORMAT_FRAMED_JSON_H_
#define REKINDLE_CHECKPOINT_FORMAT_FRAMED_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

std::string FrameJson(const std::string& name, std::string_view inner);
// Returns the inner text of a framed document, which is a part of `text`. DATA_LOSS says that the frame or the checksum
// is wrong. Its message begins with `name`.
absl::StatusOr<std::string_view> UnframeJson(const std::string& name, std::string_view text);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_FRAMED_JSON_H_

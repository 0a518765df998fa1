// Lets a trainer say in a sentence why it ends itself, so that its agent can tell others. The sentence lies in a file
// of the node's folder, because a process whose GPU has failed may be able to do nothing but to write it and to exit.
#ifndef REKINDLE_COMMON_PROCESS_LAST_WORDS_H_
#define REKINDLE_COMMON_PROCESS_LAST_WORDS_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// Returns the path of a trainer's last words in the folder of its node: DIR/last_words/ and the trainer's name.
std::string LastWordsPath(const std::string& dir, const std::string& trainer);

// Writes the words, of which at most kLongestLastWords bytes are kept, whole or not at all. Returns the error with
// errno's text if they cannot be written.
absl::Status WriteLastWords(const std::string& path, const std::string& words);

// Returns the words with anything unprintable replaced, and removes the file. They are empty if there is no file.
std::string TakeLastWords(const std::string& path);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_LAST_WORDS_H_

// Defines what a bundle is: the files of a folder, sent to the nodes of a job in one piece.
//
// The plain form of a bundle is a sequence of bytes without any choice in it. All numbers are little-endian:
//
//   "rekindle-bundle 1\n"
//   for each file, in the order of the bytes of the names:
//     u16 length of the name, the name, u8 mode (0 or 1, which is executable), u64 size, the content
//   u16 0
//
// The address of a bundle is the SHA-256 of its plain form in lower-case hex. The packed form, which is sent and kept,
// is the plain form compressed by zlib. It may differ between releases of zlib, and the address does not. There are
// files in a bundle and nothing else: no links, no devices, no empty folders, no owners and no times.
#ifndef REKINDLE_COMMON_BUNDLE_BUNDLE_H_
#define REKINDLE_COMMON_BUNDLE_BUNDLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace rekindle::common {

inline constexpr int64_t kMaxPackedBundleBytes = 64 << 20;
inline constexpr int64_t kMaxBundleBytes = 256 << 20;
inline constexpr int kMaxBundleFiles = 10'000;
// Names of files need folders, each of which takes room in memory and on a disk.
inline constexpr int kMaxBundleFolders = 10'000;
inline constexpr size_t kMaxBundleNameBytes = 512;
inline constexpr int kMaxBundleDepth = 32;
// A bundle is sent in pieces of at most `kMaxBundlePieceBytes` of its packed form.
inline constexpr size_t kMaxBundlePieceBytes = 1 << 20;

inline constexpr std::string_view kBundleMagic = "rekindle-bundle 1\n";
// A file begins with the length of its name, and its mode and size follow the name.
inline constexpr int kBundleNameLengthBytes = 2;
inline constexpr int kBundleModeBytes = 1;
inline constexpr int kBundleSizeBytes = 8;

struct BundleEntry {
  // `name` is relative to the folder, with "/" between its parts.
  std::string name;
  bool executable = false;
  int64_t bytes = 0;

  friend bool operator==(const BundleEntry&, const BundleEntry&) = default;
};

struct BundleSummary {
  std::string address;
  int files = 0;
  int64_t bytes = 0;
};

// Returns whether the text is written like the address of a bundle: 64 lower-case hex digits.
bool IsBundleAddress(std::string_view text);

// Returns INVALID_ARGUMENT, and says what is wrong, unless `name` may be the name of a file in a bundle. It is UTF-8,
// is relative, has no part that is empty, "." or "..", and has no control characters and no backslash.
absl::Status CheckBundleName(std::string_view name);

// Checks the names of a bundle's files together. It is thread-compatible.
class BundleNames {
 public:
  // Takes the next name. INVALID_ARGUMENT says that the name is bad or not behind the one before it, that a file would
  // be a folder too, that two names differ in nothing but the case of their letters, or that there are more than
  // `kMaxBundleFolders` folders. Two names that differ only in case would be one file where a file system does not tell
  // them apart.
  absl::Status Add(const std::string& name);

 private:
  struct Place {
    std::string name;
    bool is_folder = false;
    // `below` has what is in the folder, by the names in lower case.
    std::map<std::string, Place> below;
  };

  std::string last_;
  int folders_ = 0;
  Place root_{.name = "", .is_folder = true, .below = {}};
};

// The functions below say where a node keeps the bundle `address`: in its packed form, and as a folder. `node_folder`
// is the folder of the node.
inline std::string NodeBundles(const std::string& node_folder) { return node_folder + "/bundles"; }
inline std::string NodeBundleFile(const std::string& node_folder, const std::string& address) {
  return NodeBundles(node_folder) + "/" + address + ".packed";
}
inline std::string NodeBundleFolder(const std::string& node_folder, const std::string& address) {
  return NodeBundles(node_folder) + "/" + address;
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_BUNDLE_H_

// Makes a folder for a test. It is removed when the test has ended.
#ifndef REKINDLE_COMMON_TESTING_TEMPORARY_FOLDER_TESTING_H_
#define REKINDLE_COMMON_TESTING_TEMPORARY_FOLDER_TESTING_H_

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rekindle::common {

// Creates a folder in `parent`. If that fails, it throws, which fails the test. It is thread-compatible.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& parent = "/tmp") : path_(parent + "/rekindle-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder for the test: " + path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_TEMPORARY_FOLDER_TESTING_H_

// Test-only: a folder that goes when the test has ended.
#ifndef REKINDLE_COMMON_TEMPORARY_FOLDER_TESTING_H_
#define REKINDLE_COMMON_TEMPORARY_FOLDER_TESTING_H_

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rekindle::common {

// Throws, which fails the test, where none can be made. Thread-compatible.
class TemporaryFolder {
 public:
  TemporaryFolder() {
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
  std::string path_ = "/tmp/rekindle-test-XXXXXX";
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEMPORARY_FOLDER_TESTING_H_

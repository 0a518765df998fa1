// What the tests of job files share. Only tests include this.
#ifndef REKINDLE_CLI_JOB_FILE_JOB_FILE_TESTING_H_
#define REKINDLE_CLI_JOB_FILE_JOB_FILE_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/job_file/job_file.h"

namespace rekindle::cli {

// A folder of files.
class JobFileFixture : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/rk-job-file-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& text, const std::string& name = "job.yaml") {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  // A job of three lines, from "name" on.
  static std::string Good(const std::string& name) {
    return "name: " + name + "\nspec: {data: {text: /a.txt}, training: {\n  steps: 5}}\n";
  }

  std::string folder_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_JOB_FILE_TESTING_H_

// Provides what the tests of job files share. Only tests include this file.
#ifndef REKINDLE_CLI_TESTING_JOB_DOCUMENTS_TESTING_H_
#define REKINDLE_CLI_TESTING_JOB_DOCUMENTS_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "cli/job_file/job_documents.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::cli {

// Makes a folder of job files for a test.
class JobDocumentsFixture : public testing::Test {
 protected:
  std::string Write(const std::string& text, const std::string& name = "job.yaml") {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  // Returns the text of a job file of three lines, which begins with "name".
  static std::string Good(const std::string& name) {
    return "name: " + name + "\nspec: {data: {text: /a.txt}, training: {\n  steps: 5}}\n";
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TESTING_JOB_DOCUMENTS_TESTING_H_

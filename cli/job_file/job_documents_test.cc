#include "cli/job_file/job_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "cli/job_file/job_source.h"
#include "cli/testing/job_documents_testing.h"

namespace rekindle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class JobDocumentsTest : public JobDocumentsFixture {
 protected:
  JobDocuments Read(const std::string& text, const std::vector<std::string>& sets = {}) {
    std::vector<Override> overrides;
    for (const std::string& set : sets) overrides.push_back(ParseOverride(set));
    auto file = ReadJobDocuments(Write(text), overrides);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? *std::move(file) : JobDocuments();
  }
};

TEST_F(JobDocumentsTest, EachDocumentIsAJobWithTheLinesOfItsFields) {
  const JobDocuments file = Read("---\n" + Good("a") + "---\n# nothing\n---\n" + Good("b"));
  ASSERT_THAT(file.documents, SizeIs(2));
  EXPECT_EQ(file.source, folder_ + "/job.yaml");
  EXPECT_EQ(file.documents[0].job.name(), "a");
  EXPECT_EQ(file.documents[1].job.name(), "b");
  EXPECT_EQ(file.documents[1].line, 8);
  EXPECT_EQ(file.documents[1].lines.at("spec.training.steps"), 10);
}

TEST_F(JobDocumentsTest, PathsAreRelativeToTheFileAndThoseOfFlagsToTheFolderOfTheCommand) {
  const JobDocuments file =
      Read("spec: {data: {text: [a/*.txt, /b]}, model: {weights: ../set}}", {"data.tokens=c.bin"});
  const v1::JobSpec& spec = file.documents[0].job.spec();
  EXPECT_THAT(spec.data().text(), ElementsAre(folder_ + "/a/*.txt", "/b"));
  EXPECT_EQ(spec.model().weights(), "/tmp/set");
  EXPECT_THAT(spec.data().tokens(), ElementsAre((std::filesystem::current_path() / "c.bin").string()));
}

TEST_F(JobDocumentsTest, FlagsGoBeforeTheFileInEachDocument) {
  const JobDocuments file = Read("name: a\nspec: {training: {steps: LATER}, data: {text: [1, 2]}}\n---\nname: b\n",
                                 {"training.steps=7", "spec.data.text=/c", "spec.team=t"});
  for (const JobDocument& document : file.documents) {
    EXPECT_THAT(document.unread, IsEmpty()) << "what stood in the file does not matter any more";
    EXPECT_EQ(document.job.spec().training().steps(), 7);
    EXPECT_THAT(document.job.spec().data().text(), ElementsAre("/c"));
    EXPECT_EQ(document.job.spec().team(), "t");
    EXPECT_EQ(document.flags.at("spec.training.steps"), "--set training.steps=7");
    EXPECT_FALSE(document.lines.contains("spec.data.text[0]"));
  }
  EXPECT_EQ(file.documents[0].job.name(), "a");
}

TEST_F(JobDocumentsTest, AFlagThatIsWrongIsNamed) {
  const auto wrong = [&](const std::string& set) {
    const JobDocuments file = Read(Good("a"), {set});
    return file.documents[0].unread.empty() ? "" : file.documents[0].unread[0].what;
  };
  EXPECT_EQ(wrong("trainin.steps=5"), "--set trainin.steps=5: `spec.trainin` is not a field; did you mean `training`?");
  EXPECT_EQ(wrong("training.stepz=5"),
            "--set training.stepz=5: `spec.training.stepz` is not a field; did you mean `steps`?");
  EXPECT_EQ(wrong("training.steps=x"), "--set training.steps=x: `spec.training.steps` must be a whole number, not 'x'");
  EXPECT_EQ(wrong("uid=5"), "--set uid=5: `uid` is the coordinator's to set: leave it out");
  EXPECT_EQ(wrong("name=\"\""), "");
}

TEST_F(JobDocumentsTest, PipesAreReadToTheirEndAndNoFurtherThanTheLimit) {
  const std::string pipe = folder_ + "/pipe";
  const auto read = [&](const std::string& text) {
    unlink(pipe.c_str());
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << text; });
    auto source = ReadJobSource(pipe);
    writer.join();
    return source;
  };
  const std::string most(common::kMaxYamlBytes, '#');
  EXPECT_EQ(read(most)->text, most);
  EXPECT_EQ(read("a: b")->folder, std::filesystem::current_path());
  EXPECT_THAT(std::string(read(most + "#").status().message()),
              HasSubstr("pipe has more than the 1048576 bytes allowed"));
}

TEST_F(JobDocumentsTest, FilesThatCannotBeReadSaySo) {
  EXPECT_THAT(std::string(ReadJobDocuments(folder_ + "/none.yaml").status().message()), HasSubstr("none.yaml"));
  EXPECT_FALSE(ReadJobDocuments(folder_).ok());
  EXPECT_THAT(std::string(ReadJobDocuments(Write(std::string(common::kMaxYamlBytes + 1, '#'))).status().message()),
              HasSubstr("more than the 1048576 allowed"));
  EXPECT_EQ(ReadJobDocuments(Write("a: [")).status().message().find(folder_ + "/job.yaml:1: not valid YAML"), 0u);
}

}  // namespace
}  // namespace rekindle::cli

#include "worker/user_code/output_pump.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::user_code {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OutputBudget, ABurstIsKeptAndAStreamIsNot) {
  OutputBudget budget;
  EXPECT_TRUE(budget.Take(4 << 20, 100));
  EXPECT_FALSE(budget.Take(1000, 100));
  EXPECT_EQ(budget.TakeLost(100.5), 0u) << "more is being lost";
  EXPECT_TRUE(budget.Take(1000, 100.5));
  EXPECT_EQ(budget.TakeLost(102), 1000u);
  EXPECT_EQ(budget.TakeLost(103), 0u);
  EXPECT_FALSE(budget.Take(5 << 20, 1e6)) << "time does not add up to more than a burst";
}

class Pump : public ::testing::Test {
 protected:
  // Writes a text through a pump, and returns what is in the log after the pump's end.
  std::string Carry(const std::string& text, std::shared_ptr<const Scrubber> scrubber = nullptr) {
    const common::UniqueFd log(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    {
      auto pump = OutputPump::Start(log.get(), std::move(scrubber), std::nullopt);
      EXPECT_TRUE(pump.ok()) << pump.status();
      size_t done = 0;
      while (done < text.size()) {
        const ssize_t wrote = write((*pump)->write_end(), text.data() + done, text.size() - done);
        EXPECT_GT(wrote, 0);
        if (wrote <= 0) break;
        done += static_cast<size_t>(wrote);
      }
    }
    std::stringstream read;
    read << std::ifstream(path_).rdbuf();
    return read.str();
  }
  common::TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/log";
};

TEST_F(Pump, LinesArriveWithoutSecrets) {
  auto scrubber =
      std::make_shared<const Scrubber>(std::vector<std::pair<std::string, std::string>>{{"TOKEN", "hf_12345678"}});
  EXPECT_EQ(Carry("one\ntwo hf_12345678\nthree", scrubber), "one\ntwo [TOKEN]\nthree");
}

TEST_F(Pump, ASecretIsFoundThatIsWrittenInPieces) {
  const std::string secret(2000, 'k');
  auto scrubber = std::make_shared<const Scrubber>(std::vector<std::pair<std::string, std::string>>{{"TOKEN", secret}});
  // A pipe takes 65,536 bytes at once, and a line may be cut there as well.
  for (const std::string& line : {std::string(99, 'x') + "\n", std::string(100, 'x')}) {
    std::string text;
    for (int i = 0; i < 650; ++i) text += line;
    EXPECT_THAT(Carry(text + secret + "\n", scrubber), Not(HasSubstr("kkkk")));
  }
}

TEST_F(Pump, ASecretThatIsLongerThanAllThatIsKeptBackIsFound) {
  const std::string secret(20'000, 'k');
  auto scrubber = std::make_shared<const Scrubber>(std::vector<std::pair<std::string, std::string>>{{"TOKEN", secret}});
  // The line is cut in the middle of the secret, wherever the reads of the pump end.
  for (const size_t before : {50'000, 60'000, 65'000, 130'000}) {
    EXPECT_THAT(Carry(std::string(before, 'x') + secret + std::string(100'000, 'y') + "\n", scrubber),
                Not(HasSubstr("kkkk")))
        << before;
  }
  EXPECT_THAT(Carry("the last words are " + secret.substr(0, 100), scrubber), Not(HasSubstr("kkkk")));
}

TEST_F(Pump, AGigabyteBecomesAFewMegabytesAndASentence) {
  const std::string line(1023, 'x');
  std::string text;
  for (int i = 0; i < 1024 * 64; ++i) text += line + "\n";
  const std::string kept = Carry(text);
  EXPECT_LT(kept.size(), 10u << 20);
  EXPECT_GT(kept.size(), 1u << 20);
  EXPECT_THAT(kept, EndsWith(" bytes of output were dropped, because there was too much of it\n"));
}

TEST_F(Pump, ItEndsAlthoughTheOtherEndIsOpen) {
  const common::UniqueFd log(open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  common::UniqueFd held;
  {
    auto pump = OutputPump::Start(log.get(), nullptr, std::nullopt);
    ASSERT_TRUE(pump.ok());
    held = common::UniqueFd(dup((*pump)->write_end()));
    ASSERT_EQ(write(held.get(), "last", 4), 4);
  }
  struct stat facts = {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, 4);
}

}  // namespace
}  // namespace rekindle::user_code

// Tests that files which pyarrow writes are read. A file that is damaged, or whose columns a job cannot use, must be
// refused with a message that names the file.
#include "worker/data/kinds/parquet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// kWrite is a Python program that writes 1000 rows in row groups of 300. The columns of row i are i, i / 4, whether i
// is odd, "i", a value that is missing at row 7, one that is infinite at row 9, and {a: i, b: -i}.
constexpr char kWrite[] = R"(
import sys, pyarrow as pa, pyarrow.parquet as pq
n = range(1000)
pq.write_table(pa.table({
    'nested': pa.array([{'a': i, 'b': -i} for i in n]),
    'whole': pa.array(n, pa.int64()), 'quarter': pa.array([i / 4 for i in n]),
    'odd': pa.array([i % 2 == 1 for i in n]), 'text': [str(i) for i in n],
    'missing': pa.array([None if i == 7 else i for i in n], pa.int32()),
    'infinite': pa.array([float('inf') if i == 9 else 1.0 for i in n], pa.float32())}), sys.argv[1], row_group_size=300)
)";

class ParquetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ + "/write.py") << kWrite;
    const std::string command = std::string(REKINDLE_PYTHON) + " " + folder_ + "/write.py " + path_;
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no pyarrow in " << REKINDLE_PYTHON;
  }

  std::string ErrorOf(const std::vector<std::string>& features, const std::string& target) {
    const auto table = ReadParquet({path_}, features, target);
    EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument) << table.status();
    return std::string(table.status().message());
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  const std::string path_ = folder_ + "/rows.parquet";
};

TEST_F(ParquetTest, NumbersAndBooleansOfAllRowsInTheOrderAskedFor) {
  const auto table = ReadParquet({path_, path_}, {"quarter", "whole"}, "odd");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->columns, 2);
  ASSERT_EQ(table->rows(), 2000);
  for (int row : {0, 1, 299, 300, 999, 1000, 1999}) {
    const float i = static_cast<float>(row % 1000);
    EXPECT_THAT(std::vector<float>(table->features.begin() + 2 * row, table->features.begin() + 2 * row + 2),
                ElementsAre(i / 4, i));
    EXPECT_EQ(table->targets[row], row % 2);
  }
}

TEST_F(ParquetTest, WhatCannotBeLearnedFromIsNamed) {
  EXPECT_THAT(ErrorOf({"whole", "height"}, "odd"),
              HasSubstr(path_ + ": has no one column 'height'; its first are: nested, whole, quarter"));
  EXPECT_THAT(ErrorOf({"text"}, "odd"), HasSubstr("column 'text' is string; use numbers"));
  EXPECT_THAT(ErrorOf({"nested"}, "odd"), HasSubstr("column 'nested' is struct"));
  EXPECT_THAT(ErrorOf({"missing"}, "odd"), HasSubstr("column 'missing', row 7 is missing"));
  EXPECT_THAT(ErrorOf({"whole"}, "infinite"), HasSubstr("column 'infinite', row 9 is not finite"));
  std::ofstream(path_) << "no Parquet at all";
  EXPECT_THAT(ErrorOf({"whole"}, "odd"), HasSubstr(path_ + ": "));
}

TEST_F(ParquetTest, DamageNeverCrashes) {
  std::stringstream text;
  text << std::ifstream(path_, std::ios::binary).rdbuf();
  const std::string good = text.str();
  std::mt19937_64 random(5);
  int refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::string damaged = good;
    // Half of the trials damage bytes near the end of the file, where its headers are.
    for (int i = 0; i <= trial % 3; ++i) {
      const size_t at =
          trial % 2 ? random() % good.size() : good.size() - 1 - random() % std::min<size_t>(1500, good.size());
      damaged[at] = static_cast<char>(random());
    }
    if (trial % 7 == 0) damaged.resize(random() % damaged.size());
    std::ofstream(path_, std::ios::binary) << damaged;
    const auto table = ReadParquet({path_}, {"quarter", "whole"}, "odd");
    refused += !table.ok();
    EXPECT_TRUE(!table.ok() || table->features.size() == 2 * table->targets.size());
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace rekindle::data

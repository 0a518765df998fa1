// Checks that malformed or mismatched plane files are refused and that the state stays untouched then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "checkpoint/format/planes.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/testing/planes_testing.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTotal = 3000;
// The range has an odd number of elements, so that the list of exceptions in its plane file is misaligned.
constexpr ShardRange kRange{.begin = 10, .end = 2611};
constexpr int64_t kElements = kRange.end - kRange.begin;
constexpr size_t kData = 1024;

const PlaneFiles& Exact() {
  static const auto* files = new PlaneFiles(WriteFiles(Trained(kTotal, 1), kRange, Precision::kExact));
  return *files;
}

// Returns why ReadPlanes refuses the files, and checks that the state has not changed.
std::string Why(const std::vector<uint8_t>& plane0, const std::vector<uint8_t>& plane1, int64_t total = kTotal) {
  TestState state(total);
  const auto got = ReadPlanes(plane0, plane1, state.writable());
  if (got.ok()) return "";
  EXPECT_TRUE(state == TestState(total));
  EXPECT_TRUE(absl::IsInvalidArgument(got.status())) << got.status();
  return std::string(got.status().message());
}

std::vector<uint8_t> Changed(std::vector<uint8_t> file, size_t at, std::initializer_list<uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<int64_t>(at));
  return file;
}

// Returns the plane file with one text in its header replaced by another of the same length.
std::vector<uint8_t> Replaced(const std::vector<uint8_t>& file, const std::string& from, const std::string& to) {
  std::string text(file.begin(), file.end());
  const size_t at = text.find(from);
  EXPECT_LT(at, kData) << from;
  EXPECT_EQ(from.size(), to.size());
  text.replace(at, from.size(), to);
  return {text.begin(), text.end()};
}

TEST(PlanesDamageTest, RefusesWhatDoesNotBelongTogether) {
  const PlaneFiles& exact = Exact();
  ASSERT_GT(exact.written.exceptions, 1);
  EXPECT_EQ(Why(exact.plane0, exact.plane1), "");
  EXPECT_EQ(Why(exact.plane0, {}), "");
  EXPECT_THAT(Why(exact.plane0, exact.plane1, kTotal + 1), HasSubstr("this state has 3001"));
  EXPECT_THAT(Why(exact.plane1, {}), HasSubstr("not that of plane 0"));
  EXPECT_THAT(Why(exact.plane0, exact.plane0), HasSubstr("exception_index"));
  EXPECT_THAT(Why({}, exact.plane1), HasSubstr("safetensors"));
  const TestState state = Trained(kTotal, 1);
  const PlaneFiles other = WriteFiles(state, {.begin = 11, .end = 2612}, Precision::kExact);
  EXPECT_THAT(Why(exact.plane0, other.plane1), HasSubstr("not of one range"));
  for (Precision precision : {Precision::kFp16, Precision::kBf16}) {
    const PlaneFiles lossy = WriteFiles(state, kRange, precision);
    EXPECT_EQ(Why(lossy.plane0, {}), "");
    EXPECT_THAT(Why(lossy.plane0, exact.plane1), HasSubstr("precision exact"));
  }
}

TEST(PlanesDamageTest, RefusesImpossibleContent) {
  const PlaneFiles& exact = Exact();
  const size_t exponents = kData + 6 * kElements, exceptions = exponents;
  EXPECT_THAT(Why(Changed(exact.plane0, exponents, {0x80}), {}), HasSubstr("exponent"));
  EXPECT_THAT(Why(Changed(exact.plane0, exponents + 2, {114}), {}), HasSubstr("exponent"));
  EXPECT_THAT(Why(exact.plane0, Changed(exact.plane1, exceptions, {0xff, 0xff, 0xff, 0xff})), HasSubstr("exception 0"));
  EXPECT_THAT(Why(exact.plane0, Changed(exact.plane1, exceptions + 4, {0, 0, 0, 0})), HasSubstr("exception 1"));
  // The residual of an ordinary weight is changed to the value that marks an exception, but the file lists no exception
  // for that weight.
  size_t ordinary = kData;
  while (exact.plane1[ordinary] == 0x00 && exact.plane1[ordinary + 1] == 0x80) ordinary += 2;
  EXPECT_THAT(Why(exact.plane0, Changed(exact.plane1, ordinary, {0x00, 0x80})), HasSubstr("missing"));
  for (size_t less : {size_t{1}, size_t{8}, exact.plane1.size() - 1}) {
    std::vector<uint8_t> shorter(exact.plane1.begin(), exact.plane1.end() - static_cast<int64_t>(less));
    EXPECT_THAT(Why(exact.plane0, shorter), HasSubstr("safetensors")) << less;
  }
}

TEST(PlanesDamageTest, RefusesOtherHeaders) {
  const PlaneFiles& exact = Exact();
  EXPECT_THAT(Why(Replaced(exact.plane0, "rekindle-shard-2", "rekindle-shard-3"), {}), HasSubstr("metadata"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"exact\"", "\"EXACT\""), {}), HasSubstr("no checkpoint precision"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"10\"", "\"1 \""), {}), HasSubstr("no number 'begin'"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"10\"", "\"+9\""), {}), HasSubstr("no number 'begin'"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"10\"", "\"11\""), {}), HasSubstr("other tensors"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"2611\"", "\"3001\""), {}), HasSubstr("this state has"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"first_moment\"", "\"first_momemt\""), {}), HasSubstr("other tensors"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"F16\"", "\"I16\""), {}), HasSubstr("other tensors"));
  EXPECT_THAT(Why(Replaced(exact.plane0, "\"format\"", "\"former\""), {}), HasSubstr("metadata"));
  // The header has one space less, so the data begins at an odd offset, from which it cannot be read.
  std::vector<uint8_t> shifted = exact.plane0;
  shifted.erase(shifted.begin() + kData - 1);
  shifted[0] -= 1;
  EXPECT_THAT(Why(shifted, {}), HasSubstr("aligned"));
}

}  // namespace
}  // namespace rekindle::checkpoint

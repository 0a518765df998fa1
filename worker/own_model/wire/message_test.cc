#include "worker/own_model/wire/message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "worker/numeric/little_endian.h"

namespace rekindle::own_model {
namespace {

using numeric::RecordReader;
using numeric::RecordWriter;

template <typename... Values>
std::vector<uint8_t> Bytes(Values... values) {
  RecordWriter out;
  (out.Put(values), ...);
  return out.Take();
}

// Checks that no part of the body and nothing longer is taken.
template <typename Decode>
void ExpectOnlyWhole(const std::vector<uint8_t>& body, const Decode& decode) {
  EXPECT_TRUE(decode(body).ok());
  for (size_t n = 0; n < body.size(); ++n) EXPECT_FALSE(decode(std::span(body).first(n)).ok()) << n;
  std::vector<uint8_t> longer = body;
  longer.push_back(0);
  EXPECT_FALSE(decode(longer).ok());
}

TEST(MessageTest, ARequestHasTheLayoutThatThePackageReads) {
  const ComputeRequest request{
      .request = 7,
      .step = 41,
      .slot = 1,
      .loss_scale = 1024,
      .samples = {.index = 3, .first = 12, .numbers = {5, int64_t{1} << 40}, .checked = {.place = 13, .sample = 6}}};
  EXPECT_EQ(EncodeCompute(request), Bytes(uint64_t{7}, int64_t{41}, int32_t{3}, int32_t{1}, 1024.0f, int64_t{12},
                                          int64_t{13}, int64_t{6}, uint32_t{2}, int64_t{5}, int64_t{1} << 40));
  EXPECT_EQ(EncodeExpect(9, std::vector<Samples>{request.samples}),
            Bytes(int64_t{9}, uint32_t{1}, int32_t{3}, uint32_t{2}, int64_t{12}, int64_t{13}, int64_t{6}, int64_t{5},
                  int64_t{1} << 40));
  EXPECT_EQ(EncodeHash(9, std::vector<int64_t>{4, 2}), Bytes(uint64_t{9}, uint32_t{2}, int64_t{4}, int64_t{2}));
}

TEST(MessageTest, AHashNamesASampleOrNone) {
  const auto hashed = [](int64_t not_repeated) { return DecodeHashed(Bytes(uint64_t{5}, uint64_t{77}, not_repeated)); };
  EXPECT_EQ(hashed(-1)->hash, 77u);
  EXPECT_EQ(hashed(3)->not_repeated, 3);
  EXPECT_FALSE(hashed(-2).ok());
  ExpectOnlyWhole(Bytes(uint64_t{5}, uint64_t{77}, int64_t{0}), DecodeHashed);
}

TEST(MessageTest, GradientsNameOnlyParametersOfTheLayout) {
  const auto decode = [](std::span<const uint8_t> body) { return DecodeGradients(body, 4); };
  const std::vector<uint8_t> body = Bytes(uint64_t{5}, uint32_t{2}, uint32_t{3}, uint32_t{0});
  ExpectOnlyWhole(body, decode);
  EXPECT_EQ(decode(body)->request, 5u);
  EXPECT_EQ(decode(body)->parameters, (std::vector<uint32_t>{3, 0}));
  EXPECT_FALSE(decode(Bytes(uint64_t{5}, uint32_t{1}, uint32_t{4})).ok());
  EXPECT_FALSE(
      decode(Bytes(uint64_t{5}, uint32_t{5}, uint32_t{0}, uint32_t{0}, uint32_t{0}, uint32_t{0}, uint32_t{0})).ok());
  EXPECT_FALSE(decode(Bytes(uint64_t{5}, uint32_t{0xffffffff})).ok());
}

TEST(MessageTest, ALossIsASumOverAtLeastNothing) {
  const auto done = [](double sum, int64_t count, double seconds = 0.5) {
    return DecodeDone(Bytes(uint64_t{5}, sum, count, uint64_t{77}, seconds, 0.1, uint64_t{78}));
  };
  EXPECT_EQ(done(12.5, 4)->loss_sum, 12.5);
  EXPECT_EQ(done(12.5, 4)->whole_buffers, 77u);
  EXPECT_EQ(done(12.5, 4)->checked_sample, 78u);
  EXPECT_TRUE(done(0, 0).ok());
  EXPECT_TRUE(std::isnan(done(std::nan(""), 4)->loss_sum)) << "the engine tells of it by its step and micro-batch";
  EXPECT_FALSE(done(12.5, 0).ok());
  EXPECT_FALSE(done(12.5, -1).ok());
  EXPECT_TRUE(done(12.5, kMostCount).ok());
  EXPECT_FALSE(done(12.5, kMostCount + 1).ok()) << "65,536 of them would not fit into 64 bits";
  EXPECT_FALSE(DecodeEvaluated(Bytes(uint64_t{5}, 12.5, kMostCount + 1)).ok());
  EXPECT_FALSE(done(12.5, 4, -1).ok());
  EXPECT_FALSE(done(12.5, 4, std::nan("")).ok());
  ExpectOnlyWhole(Bytes(uint64_t{5}, 12.5, int64_t{4}, uint64_t{0}, 0.5, 0.1, uint64_t{0}), DecodeDone);
  ExpectOnlyWhole(Bytes(uint64_t{5}, 12.5, int64_t{4}), DecodeEvaluated);
  ExpectOnlyWhole(Bytes(uint64_t{5}, 1.5, uint64_t{4}), DecodePong);
  EXPECT_FALSE(DecodePong(Bytes(uint64_t{5}, 1.5, uint64_t{5})).ok());
}

TEST(MessageTest, AFailureIsMadePrintable) {
  const auto failed =
      DecodeFailed(R"({"kind":"data","message":"sample 5: \u001b[31mred","traceback":"line 1\nline \u0007 2"})");
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_EQ(failed->kind, Failed::Kind::kData);
  EXPECT_EQ(failed->message, "sample 5: ?[31mred");
  EXPECT_EQ(failed->traceback, "line 1\nline ? 2\n");
  for (const char* bad : {"", "[]", "{}", R"({"kind":"data"})", R"({"kind":"other","message":"m"})",
                          R"({"kind":5,"message":"m"})", R"({"kind":"data","message":""})"}) {
    EXPECT_FALSE(DecodeFailed(bad).ok()) << bad;
  }
  const std::string endless(1 << 20, 'x');
  EXPECT_LT(DecodeFailed(R"({"kind":"data","message":")" + endless + R"(","traceback":")" + endless + R"("})")
                ->message.size(),
            3000u);
}

}  // namespace
}  // namespace rekindle::own_model

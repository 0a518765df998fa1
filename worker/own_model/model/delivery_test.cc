#include "worker/own_model/model/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rekindle::own_model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeliveryTest : public ::testing::Test {
 protected:
  // The layout has two parameters, and a buffer for each rule.
  DeliveryTest() {
    int64_t offset = 0;
    for (const char* name : {"weight", "bias", "mean", "first", "frozen"}) {
      layout_.parameters.push_back({.name = name, .shape = {4}, .offset = offset, .size = 4});
      offset += 4;
    }
    layout_.total = offset;
    for (size_t p = 2; p < 5; ++p) layout_.parameters[p].momentum = 1;
    layout_.parameters[3].rule = train::BufferRule::kFirst;
    layout_.parameters[4].rule = train::BufferRule::kFrozen;
  }
  absl::Status Take(Delivery& delivery, std::vector<uint32_t> parameters) {
    return delivery.Take({.parameters = std::move(parameters)}, slots_, 1);
  }

  train::ParameterLayout layout_;
  static std::shared_ptr<const GradientSlots> NewSlots() {
    return std::make_shared<const GradientSlots>(*GradientSlots::Create(20));
  }
  // Writes to the memory of slots as their process does.
  static void Write(const GradientSlots& slots, int64_t offset, float value) {
    auto [channel, theirs] = *Channel::Create();
    ASSERT_TRUE(slots.Share(channel).ok());
    char body[64];
    iovec part = {.iov_base = body, .iov_len = sizeof body};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ASSERT_GT(recvmsg(theirs.get(), &header, 0), 0);
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof descriptor);
    const common::UniqueFd file(descriptor);
    // Slots begin at pages, and slot 1 follows on slot 0.
    ASSERT_EQ(pwrite(file.get(), &value, sizeof value, 4096 + offset * static_cast<int64_t>(sizeof value)),
              static_cast<ssize_t>(sizeof value));
  }

  std::shared_ptr<const GradientSlots> slots_ = NewSlots();
  std::vector<int> got_;
  const train::GradientSink sink_ = [this](int parameter, std::span<const float> gradient) {
    EXPECT_EQ(gradient.size(), 4u);
    EXPECT_EQ(gradient.data(), slots_->Part(1, 4 * parameter, 4).data());
    got_.push_back(parameter);
  };
};

TEST_F(DeliveryTest, AnotherProcessDeliversOnlyWhatIsMissing) {
  Delivery delivery(layout_, sink_, 1);
  ASSERT_TRUE(Take(delivery, {1}).ok());
  delivery.Restart();
  slots_ = NewSlots();
  ASSERT_TRUE(Take(delivery, {1, 0}).ok());
  ASSERT_TRUE(Take(delivery, {2, 3, 4}).ok());
  EXPECT_THAT(got_, ElementsAre(1, 0, 2));
  EXPECT_TRUE(delivery.End().ok());
  EXPECT_EQ(delivery.difference(), "");
}

TEST_F(DeliveryTest, WhatComesAgainMustBeWhatTheEngineHasGot) {
  Delivery delivery(layout_, sink_, 1);
  Write(*slots_, 5, 0.5f);
  ASSERT_TRUE(Take(delivery, {1}).ok());
  delivery.Restart();
  slots_ = NewSlots();
  Write(*slots_, 5, 0.25f);
  ASSERT_TRUE(Take(delivery, {0, 1, 2, 3, 4}).ok());
  EXPECT_EQ(delivery.difference(), "bias");
  // A third process agrees with the first one, from which the engine has the gradient.
  delivery.Restart();
  slots_ = NewSlots();
  Write(*slots_, 5, 0.5f);
  ASSERT_TRUE(Take(delivery, {0, 1, 2, 3, 4}).ok());
  EXPECT_TRUE(delivery.End().ok());
  EXPECT_EQ(delivery.difference(), "");
  // A fourth one says that the parameter has no gradient.
  delivery.Restart();
  ASSERT_TRUE(Take(delivery, {0, 2, 3, 4}).ok());
  EXPECT_TRUE(delivery.End().ok());
  EXPECT_EQ(delivery.difference(), "bias");
}

TEST_F(DeliveryTest, AParameterMayHaveNoGradientAndABufferAlwaysHasAValue) {
  Delivery delivery(layout_, sink_, 1);
  ASSERT_TRUE(Take(delivery, {2, 4}).ok());
  EXPECT_THAT(std::string(delivery.End().message()), HasSubstr("the buffer first"));
  ASSERT_TRUE(Take(delivery, {3}).ok());
  EXPECT_TRUE(delivery.End().ok());
  // What another process has named does not count.
  delivery.Restart();
  EXPECT_TRUE(absl::IsInvalidArgument(delivery.End()));
}

TEST_F(DeliveryTest, RulesDecideWhichBuffersAreTaken) {
  for (int index : {0, 1}) {
    got_.clear();
    Delivery delivery(layout_, sink_, index);
    ASSERT_TRUE(Take(delivery, {2, 3, 4}).ok());
    EXPECT_EQ(got_, index == 0 ? (std::vector<int>{2, 3}) : (std::vector<int>{2}));
  }
}

TEST_F(DeliveryTest, NothingIsNamedTwice) {
  Delivery delivery(layout_, sink_, 0);
  ASSERT_TRUE(Take(delivery, {0}).ok());
  for (const auto& parameters : {std::vector<uint32_t>{0}, {1, 1}, {}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Take(delivery, parameters)));
  }
  EXPECT_THAT(std::string(Take(delivery, {0}).message()), HasSubstr("weight"));
  EXPECT_THAT(got_, ElementsAre(0, 1));
}

}  // namespace
}  // namespace rekindle::own_model

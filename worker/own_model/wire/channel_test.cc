#include "worker/own_model/wire/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/time/clock.h"

namespace rekindle::own_model {
namespace {

class ChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Channel::Create();
    ASSERT_TRUE(made.ok()) << made.status();
    channel_ = std::make_unique<Channel>(std::move(made->first));
    other_ = std::move(made->second);
  }
  // Sends raw bytes from the other end, and a descriptor with them unless it is -1.
  void SendRaw(const std::string& bytes, int descriptor = -1) {
    iovec part = {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
    if (descriptor >= 0) {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      cmsghdr* c = CMSG_FIRSTHDR(&header);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
    }
    ASSERT_EQ(sendmsg(other_.get(), &header, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  static std::string Framed(MessageType type, const std::string& body, uint16_t flags = 0) {
    const MessageHeader head{kMagic, static_cast<uint16_t>(type), flags, static_cast<uint32_t>(body.size())};
    std::string bytes(kHeaderBytes, '\0');
    std::memcpy(bytes.data(), &head, kHeaderBytes);
    return bytes + body;
  }
  static std::string SizeOf(uint64_t size) { return {reinterpret_cast<const char*>(&size), sizeof(size)}; }

  std::unique_ptr<Channel> channel_;
  common::UniqueFd other_;
};

TEST_F(ChannelTest, MessagesKeepTheirOrderAndBoundaries) {
  SendRaw(Framed(MessageType::kNote, "{}"));
  SendRaw(Framed(MessageType::kDone, ""));
  for (const MessageType type : {MessageType::kNote, MessageType::kDone}) {
    const auto message = channel_->Receive(1);
    ASSERT_TRUE(message.ok() && message->has_value()) << message.status();
    EXPECT_EQ((*message)->type, type);
  }
  const auto none = channel_->Receive(0);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

TEST_F(ChannelTest, AMessageGoesOutWithItsDescriptor) {
  auto file = MakeMemoryFile("test", 100);
  ASSERT_TRUE(file.ok());
  const std::vector<uint8_t> body = {1, 2, 3};
  ASSERT_TRUE(channel_->Send(MessageType::kBind, body, file->get()).ok());
  std::array<char, 100> bytes = {};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.data(), .msg_controllen = control.size()};
  ASSERT_EQ(recvmsg(other_.get(), &header, 0), static_cast<ssize_t>(kHeaderBytes + body.size()));
  ASSERT_NE(CMSG_FIRSTHDR(&header), nullptr);
  int received = -1;
  std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(int));
  const common::UniqueFd owner(received);
  EXPECT_EQ(lseek(received, 0, SEEK_END), 100);
  EXPECT_NE(ftruncate(received, 10), 0) << "its size is sealed";
  EXPECT_NE(fcntl(received, F_ADD_SEALS, F_SEAL_WRITE), 0) << "who gets it adds no seals";
}

TEST_F(ChannelTest, LongJsonComesInASealedFile) {
  const std::string json(1 << 20, 'j');
  common::UniqueFd file(memfd_create("json", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(write(file.get(), json.data(), json.size()), static_cast<ssize_t>(json.size()));
  SendRaw(Framed(MessageType::kReady, SizeOf(json.size()), kInFile), file.get());
  EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status())) << "it may change while it is read";
  ASSERT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
  SendRaw(Framed(MessageType::kReady, SizeOf(json.size() + 1), kInFile), file.get());
  EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status())) << "another size";
  SendRaw(Framed(MessageType::kReady, SizeOf(json.size()), kInFile));
  EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status())) << "no file";
  SendRaw(Framed(MessageType::kReady, SizeOf(json.size()), kInFile), file.get());
  const auto message = channel_->Receive(1);
  ASSERT_TRUE(message.ok() && message->has_value()) << message.status();
  EXPECT_EQ((*message)->text(), json);
}

TEST_F(ChannelTest, OnlyTheDescriptionComesInAFile) {
  const std::string json = "{}";
  common::UniqueFd file(memfd_create("json", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(write(file.get(), json.data(), json.size()), static_cast<ssize_t>(json.size()));
  ASSERT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
  for (const MessageType type : {MessageType::kNote, MessageType::kFailed, MessageType::kGradients}) {
    SendRaw(Framed(type, SizeOf(json.size()), kInFile), file.get());
    EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status())) << static_cast<int>(type);
  }
  SendRaw(Framed(MessageType::kReady, SizeOf(json.size()), kInFile | 2), file.get());
  EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status())) << "a flag that nobody knows";
  SendRaw(Framed(MessageType::kNote, "{}"), file.get());
  EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status())) << "a file that was not announced";
  SendRaw(Framed(MessageType::kReady, SizeOf(json.size()), kInFile), file.get());
  EXPECT_TRUE(channel_->Receive(1).ok());
}

TEST_F(ChannelTest, WhatIsNoMessageIsRefused) {
  std::string wrong_magic = Framed(MessageType::kDone, "abc");
  wrong_magic[0] ^= 1;
  std::string wrong_size = Framed(MessageType::kDone, "abc");
  wrong_size.pop_back();
  for (const std::string& bytes : {std::string("x"), wrong_magic, wrong_size}) {
    SendRaw(bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(channel_->Receive(1).status()));
  }
}

TEST_F(ChannelTest, AClosedEndIsNoticed) {
  other_.Reset();
  EXPECT_TRUE(absl::IsUnavailable(channel_->Receive(1).status()));
  EXPECT_TRUE(absl::IsUnavailable(channel_->Send(MessageType::kStop, {})));
}

TEST_F(ChannelTest, AProcessThatReadsNothingIsNotWaitedForLong) {
  const std::vector<uint8_t> body(kMaxMessageBytes / 2);
  const auto send_until_full = [&](double patience) {
    absl::Status sent;
    for (int i = 0; sent.ok() && i < 10'000; ++i) sent = channel_->Send(MessageType::kExpect, body, -1, patience);
    return sent;
  };
  EXPECT_TRUE(absl::IsDeadlineExceeded(send_until_full(0)));
  const double begun = common::SteadySeconds();
  EXPECT_TRUE(absl::IsDeadlineExceeded(channel_->Send(MessageType::kExpect, body)));
  EXPECT_GE(common::SteadySeconds() - begun, Channel::kPatience);
  // What was sent is whole, and there is room again once it was read.
  std::vector<char> read(kMaxMessageBytes);
  EXPECT_EQ(recv(other_.get(), read.data(), read.size(), 0), static_cast<ssize_t>(kHeaderBytes + body.size()));
  EXPECT_TRUE(channel_->Send(MessageType::kExpect, body).ok());
}

TEST_F(ChannelTest, ALongBodyIsRefusedBeforeItIsSent) {
  EXPECT_FALSE(channel_->Send(MessageType::kExpect, std::vector<uint8_t>(kMaxMessageBytes)).ok());
}

}  // namespace
}  // namespace rekindle::own_model

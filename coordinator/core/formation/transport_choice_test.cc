#include "coordinator/core/formation/transport_choice.h"

#include <gtest/gtest.h>

#include <deque>

namespace rekindle::core {
namespace {

// Makes members a, b, c, ... out of what their trainers report.
class Members {
 public:
  v1::TrainerDevice& Add(const std::string& uuid, int nccl_version = 22809) {
    v1::TrainerDevice& device = devices_.emplace_back();
    device.set_uuid(uuid);
    device.set_nccl_version(nccl_version);
    Add(&device);
    return device;
  }
  void AddProcessor() { Add(nullptr); }
  TransportChoice Choose() const { return ChooseTransport(members_); }
  std::string Reason() const {
    EXPECT_EQ(Choose().transport, v1::TRANSPORT_HOST);
    return Choose().reason;
  }

 private:
  void Add(const v1::TrainerDevice* device) {
    members_.push_back({std::string(1, static_cast<char>('a' + members_.size())), device});
  }

  std::deque<v1::TrainerDevice> devices_;
  std::vector<ExchangingMember> members_;
};

TEST(ChooseTransport, IsNcclBetweenGpusThatAllHaveIt) {
  Members members;
  members.Add("GPU-1");
  members.Add("GPU-2");
  EXPECT_EQ(members.Choose().transport, v1::TRANSPORT_NCCL);
  EXPECT_EQ(members.Choose().reason, "");
}

TEST(ChooseTransport, SaysNothingOfMembersThatNeedNoNccl) {
  Members none, alone, processors;
  alone.Add("GPU-1", 0);
  processors.AddProcessor();
  processors.AddProcessor();
  for (const Members* members : {&none, &alone, &processors}) EXPECT_EQ(members->Reason(), "");
}

TEST(ChooseTransport, NamesTheMemberWithoutNccl) {
  Members mixed, without, left;
  mixed.Add("GPU-1");
  mixed.AddProcessor();
  EXPECT_EQ(mixed.Reason(), "b computes on its processor");
  without.Add("GPU-1");
  without.Add("GPU-2", 0).set_no_nccl("cannot be loaded: no file libnccl.so.2");
  EXPECT_EQ(without.Reason(), "b has no NCCL: cannot be loaded: no file libnccl.so.2");
  left.Add("GPU-1").set_nccl_left(true);
  left.Add("GPU-2");
  EXPECT_EQ(left.Reason(), "a cannot use NCCL any more, as an abort did not end");
}

TEST(ChooseTransport, NeedsOneVersion) {
  Members members;
  members.Add("GPU-1");
  members.Add("GPU-2", 23007);
  EXPECT_EQ(members.Reason(), "a has NCCL 2.28.9 and b has 2.30.7");
}

TEST(ChooseTransport, LetsMembersShareAGpuOnlyWhereAllOfThemMay) {
  Members refused, half, allowed;
  refused.Add("GPU-1");
  refused.Add("GPU-2");
  refused.Add("GPU-1");
  EXPECT_EQ(refused.Reason(), "a and c share the GPU GPU-1, which their NCCL does not allow");
  half.Add("GPU-1").set_shares_gpu(true);
  half.Add("GPU-1");
  EXPECT_EQ(half.Reason(), "a and b share the GPU GPU-1, which their NCCL does not allow");
  allowed.Add("GPU-1").set_shares_gpu(true);
  allowed.Add("GPU-1").set_shares_gpu(true);
  EXPECT_EQ(allowed.Choose().transport, v1::TRANSPORT_NCCL);
}

}  // namespace
}  // namespace rekindle::core

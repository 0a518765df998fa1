// Runs the real Reporter of a simulated trainer and returns what it has published as messages. This file is for tests
// only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_REPORTING_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_REPORTING_H_

#include <functional>
#include <string>

#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/trainer.pb.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"

namespace rekindle::core::simulation {

// Converts the membership to the form in which a trainer reads it.
train::Membership PlainOf(const v1::Membership& membership);

class Reporting {
 public:
  // `identity` holds those fields of a report that a Reporter does not keep.
  explicit Reporting(v1::TrainerReport identity);

  // Lets `change` call the reporter. Returns whether it published something that the coordinator may decide on.
  bool Do(const std::function<void(train::Reporter&)>& change);

  // Returns what is true of the trainer now. The trainer may publish it only later.
  const v1::TrainerReport& truth() const { return truth_; }
  // Returns what the trainer published last, without sequence number and without the fields for polling.
  v1::TrainerReport Said() const;

 private:
  // Keeps what the reporter has published, for the simulation to deliver.
  class Control final : public train::ControlPlane {
   public:
    void Publish(const train::Report& report, bool urgent) override;
    void AddLoss(const train::StepLoss&) override {}
    const train::DirectiveBox& directives() const override { return directives_; }
    const train::Lease& lease() const override { return lease_; }
    checkpoint::JobFile JobFileNow() override { return {}; }
    std::string JobFileOfEnd(double) override { return ""; }

    train::Report newest;
    bool urgent = false;

   private:
    train::DirectiveBox directives_;
    train::Lease lease_;
  };

  const v1::TrainerReport identity_;
  Control control_;
  train::Reporter reporter_{control_};
  v1::TrainerReport truth_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_REPORTING_H_

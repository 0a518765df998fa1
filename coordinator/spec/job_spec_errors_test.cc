// Tests specs that are refused: each error names the field and the fix.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "coordinator/testing/job_spec_testing.h"

namespace rekindle::coordinator {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Makes the job one with the user's own model.
void MakeOwn(v1::JobSpec& spec) {
  spec.clear_data();
  spec.mutable_model()->set_python("train:task");
  spec.mutable_model()->set_folder("/tasks");
}

TEST(JobSpecErrorsTest, OfOwnModels) {
  ExpectRefused({
      {[](auto& s) { s.mutable_model()->set_data_workers(2); },
       "spec.model.data_workers: means nothing to model.kind gpt: remove it"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_model()->set_data_workers(65);
       },
       "spec.model.data_workers: 65 is out of"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_model()->set_start_minutes(1441);
       },
       "spec.model.start_minutes: 1441 is out of"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_model()->set_interpreter("python3");
       },
       "spec.model.interpreter: 'python3' is not absolute: begin it with '/'"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_workers()->set_device("cuda");
       },
       "spec.workers.device: 'cuda' is not for model.kind python, which computes on the CPU"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_training()->set_first_epoch("cpu");
         s.mutable_training()->set_reduce("fp32");
       },
       "spec.training.first_epoch: moves the job to GPUs"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_training()->set_micro_batch(8001);
         s.mutable_training()->set_global_batch(8001);
       },
       "spec.training.micro_batch: 8001 is more than the 8000 samples"},
      {[](auto& s) {
         MakeOwn(s);
         s.mutable_training()->set_micro_batch(0);
       },
       "spec.training.micro_batch: 'auto' does not see the memory"},
  });
}

TEST(JobSpecErrorsTest, AnOwnModelIsTrainedOnTheCpu) {
  v1::JobSpec spec = Small();
  MakeOwn(spec);
  spec.mutable_model()->set_data_workers(64);
  spec.mutable_model()->set_start_minutes(1440);
  EXPECT_EQ(Message(spec), "OK");
  const v1::JobSpec resolved = FillSpec(spec, kDefaults);
  EXPECT_EQ(resolved.workers().device(), "cpu");
  EXPECT_EQ(resolved.model().kind(), "python");
  EXPECT_EQ(FillSpec(resolved, kDefaults).SerializeAsString(), resolved.SerializeAsString());
}

TEST(JobSpecErrors, Model) {
  ExpectRefused({
      {[](auto& s) { s.set_seed(-1); }, "spec.seed: -1 is out of range"},
      {[](auto& s) { s.mutable_model()->set_kind("gtp"); },
       "spec.model.kind: 'gtp' is not supported; did you mean 'gpt2'? supported: gpt"},
      {[](auto& s) { s.mutable_model()->set_layers(-4); }, "spec.model.layers: -4 is out of range: use 1 to 512"},
      {[](auto& s) { s.mutable_model()->set_heads(3); },
       "spec.model.width: 128 is not divisible by heads 3: use 126 or 129"},
      {[](auto& s) { s.mutable_model()->set_width(2'000'000'000); }, "spec.model.width: 2e+09 is out of range"},
      {[](auto& s) {
         s.mutable_model()->set_width(65536);
         s.mutable_model()->set_layers(512);
       },
       "spec.model: has 2.6"},
      {[](auto& s) { s.mutable_model()->set_context(1 << 30); }, "spec.model.context"},
      {[](auto& s) { s.mutable_model()->set_dropout(1); },
       "spec.model.dropout: 1 is out of range: use 0 or more, below 1"},
      {[](auto& s) { s.mutable_model()->set_dropout(kNan); }, "spec.model.dropout: nan is out of range"},
      {[](auto& s) { s.mutable_model()->set_weights("set"); }, "spec.model.weights: 'set' is not absolute"},
      {[](auto& s) { s.mutable_model()->set_weights("/set"); }, "spec.model.weights_digest: is missing"},
      {[](auto& s) { s.mutable_model()->set_weights_digest("00"); }, "spec.model.weights_digest: is of no spec.model"},
  });
}

TEST(JobSpecErrors, Data) {
  ExpectRefused({
      {[](auto& s) { s.mutable_data()->clear_text(); }, "spec.data.text: is missing"},
      {[](auto& s) { s.mutable_data()->add_text("a.txt"); }, "spec.data.text[1]: 'a.txt' is not absolute"},
      {[](auto& s) { s.mutable_data()->add_text(""); }, "spec.data.text[1]: '' is not absolute"},
      {[](auto& s) { s.mutable_data()->add_text(std::string("/a\0b", 4)); }, "spec.data.text[1]: is no path"},
      {[](auto& s) {
         for (int i = 0; i < 2000; ++i) s.mutable_data()->add_text("/a");
       },
       "at most 1000: use globs"},
      {[](auto& s) { s.mutable_data()->set_validation_fraction(0.95); }, "spec.data.validation_fraction"},
      {[](auto& s) { s.mutable_data()->set_fingerprint("0123456789abcdef0123456789ABCDEF"); }, "spec.data.fingerprint"},
      {[](auto& s) { s.mutable_data()->set_fingerprint("0123456789abcdef0123456789abcde"); }, "spec.data.fingerprint"},
      {[](auto& s) { s.mutable_data()->set_max_bytes(-1); }, "spec.data.max_bytes: -1 is out of range"},
  });
}

TEST(JobSpecErrors, Training) {
  ExpectRefused({
      {[](auto& s) { s.mutable_training()->set_steps(0); }, "spec.training.steps: is missing"},
      {[](auto& s) { s.mutable_training()->set_steps(-5); }, "spec.training.steps: -5 is out of range"},
      {[](auto& s) {
         s.mutable_training()->set_global_batch(10);
         s.mutable_training()->set_micro_batch(4);
       },
       "spec.training.global_batch: 10 is not divisible by micro_batch 4: use 8 or 12"},
      {[](auto& s) {
         s.mutable_training()->set_global_batch(2);
         s.mutable_training()->set_micro_batch(4);
       },
       "spec.training.global_batch: 2 is not divisible by micro_batch 4: use 4"},
      {[](auto& s) { s.mutable_training()->set_micro_batch(-1); }, "spec.training.micro_batch: -1 is out of range"},
      {[](auto& s) {
         s.mutable_training()->set_global_batch(1 << 20);
         s.mutable_training()->set_micro_batch(1);
       },
       "spec.training.micro_batch: cuts the batch into 1048576 parts"},
      {[](auto& s) { s.mutable_training()->set_micro_batch(1 << 20); }, "times spec.model.context is over"},
      {[](auto& s) { s.mutable_training()->set_precision("fp23"); },
       "spec.training.precision: 'fp23' is not supported; did you mean 'fp32'?"},
      {[](auto& s) { s.mutable_training()->set_reduce("exat"); },
       "spec.training.reduce: 'exat' is not supported; did you mean 'exact'? supported: exact, fp32"},
      {[](auto& s) { s.mutable_training()->set_first_epoch("gpu"); }, "spec.training.first_epoch: 'gpu' is not"},
      {[](auto& s) { s.mutable_training()->set_first_epoch("cpu"); },
       "spec.training.first_epoch: needs spec.training.reduce 'fp32' or 'bf16'"},
      {[](auto& s) { s.mutable_training()->set_clip_norm(kNan); }, "spec.training.clip_norm: nan is out of range"},
      {[](auto& s) { s.mutable_training()->set_evaluate_every(-1); }, "spec.training.evaluate_every"},
      {[](auto& s) {
         s.mutable_training()->set_evaluate_every(5);
         s.mutable_data()->set_validation_fraction(0);
       },
       "spec.training.evaluate_every: needs data to evaluate on"},
  });
}

TEST(JobSpecErrors, Workers) {
  ExpectRefused({
      {[](auto& s) { s.mutable_workers()->set_min(5); },
       "spec.workers.min: 5 workers for 4 micro-batches (global_batch 16 / micro_batch 4)"},
      {[](auto& s) { s.mutable_workers()->set_max(5); }, "spec.workers.max: 5 workers for 4 micro-batches"},
      {[](auto& s) {
         s.mutable_workers()->set_min(3);
         s.mutable_workers()->set_max(2);
       },
       "spec.workers.max: 2 is below spec.workers.min 3"},
      {[](auto& s) { s.mutable_workers()->set_min(-1); }, "spec.workers.min: -1 is out of range"},
      {[](auto& s) {
         s.mutable_training()->set_global_batch(400);
         s.mutable_workers()->set_min(65);
       },
       "spec.workers.min: 65 is out of range: use 1 to 64"},
      {[](auto& s) {
         s.mutable_training()->set_global_batch(400);
         s.mutable_workers()->set_max(65);
       },
       "spec.workers.max: 65 is out of range: use 1 to 64"},
      {[](auto& s) { s.mutable_workers()->set_threads_per_rank(1000); }, "spec.workers.threads_per_rank"},
      {[](auto& s) { s.mutable_workers()->set_device("gpu"); }, "spec.workers.device: 'gpu' is not"},
      {[](auto& s) {
         s.mutable_workers()->set_device("cuda");
         s.mutable_training()->set_first_epoch("cpu");
         s.mutable_training()->set_reduce("fp32");
       },
       "spec.workers.device: is for the whole job"},
  });
}

TEST(JobSpecErrors, Optimizer) {
  ExpectRefused({
      {[](auto& s) { s.mutable_optimizer()->set_kind("adam"); }, "did you mean 'adamw'?"},
      {[](auto& s) {
         s.mutable_optimizer()->set_kind("sgd");
         s.mutable_optimizer()->set_beta1(0.9);
       },
       "spec.optimizer.beta1: has no meaning with spec.optimizer.kind 'sgd': remove it, or choose a kind that has it "
       "(adamw, lion, muon)"},
      {[](auto& s) { s.mutable_optimizer()->set_momentum(0.9); }, "spec.optimizer.momentum: has no meaning"},
      {[](auto& s) { s.mutable_optimizer()->set_learning_rate(-1); },
       "spec.optimizer.learning_rate: -1 is out of range"},
      {[](auto& s) { s.mutable_optimizer()->set_learning_rate(kInfinity); }, "spec.optimizer.learning_rate: inf"},
      {[](auto& s) { s.mutable_optimizer()->set_beta1(1); }, "spec.optimizer.beta1"},
      {[](auto& s) { s.mutable_optimizer()->set_beta2(kNan); }, "spec.optimizer.beta2"},
      {[](auto& s) { s.mutable_optimizer()->set_epsilon(-1); }, "spec.optimizer.epsilon"},
      {[](auto& s) { s.mutable_optimizer()->set_weight_decay(-1); }, "spec.optimizer.weight_decay"},
  });
}

TEST(JobSpecErrors, Schedule) {
  ExpectRefused({
      {[](auto& s) { s.mutable_schedule()->set_kind("cosin"); }, "did you mean 'cosine'?"},
      {[](auto& s) { s.mutable_schedule()->set_warmup_steps(101); },
       "spec.schedule.warmup_steps: 101 is out of range: use 0 to 100"},
      {[](auto& s) { s.mutable_schedule()->set_final_ratio(2); }, "spec.schedule.final_ratio"},
      {[](auto& s) { s.mutable_schedule()->set_factor(0.5); },
       "spec.schedule.factor: has no meaning with spec.schedule.kind 'cosine': remove it, or choose a kind that has it "
       "(plateau)"},
      {[](auto& s) {
         s.mutable_schedule()->set_kind("constant");
         s.mutable_schedule()->set_final_ratio(0.5);
       },
       "spec.schedule.final_ratio: has no meaning with spec.schedule.kind 'constant'"},
      {[](auto& s) { s.mutable_schedule()->set_kind("plateau"); },
       "spec.schedule.kind: 'plateau' follows the evaluations, and there are none before the end: set "
       "spec.training.evaluate_every above 0"},
      {[](auto& s) {
         s.mutable_training()->set_evaluate_every(5);
         s.mutable_schedule()->set_kind("plateau");
         s.mutable_schedule()->set_factor(1);
       },
       "spec.schedule.factor: 1 is out of range: use 0 or more, below 1"},
      {[](auto& s) {
         s.mutable_schedule()->set_kind("cosine_restarts");
         s.mutable_schedule()->set_cycle_steps(0);
       },
       "spec.schedule.cycle_steps: 0 is out of range"},
      {[](auto& s) {
         s.mutable_schedule()->set_kind("warmup_stable_decay");
         s.mutable_schedule()->set_warmup_steps(50);
         s.mutable_schedule()->set_decay_steps(51);
       },
       "spec.schedule.decay_steps: 51 and warmup_steps 50 are more than the job's 100 steps: lower one"},
  });
}

TEST(JobSpecErrors, WhatFollowsTheTraining) {
  ExpectRefused({
      {[](auto& s) { s.mutable_early_stop(); },
       "spec.early_stop: follows the evaluations, and there are none before the end: set spec.training.evaluate_every"},
      {[](auto& s) {
         s.mutable_training()->set_evaluate_every(5);
         s.mutable_early_stop()->set_patience(0);
       },
       "spec.early_stop.patience: 0 is out of range"},
      {[](auto& s) {
         s.mutable_training()->set_evaluate_every(5);
         s.mutable_schedule()->set_kind("plateau");
         s.mutable_schedule()->set_patience(2);
         s.mutable_early_stop();
       },
       "spec.early_stop.patience: 3 ends the job before spec.schedule has lowered the rate and it could tell: use 4"},
      {[](auto& s) { s.mutable_training()->set_on_divergence("fall"); }, "did you mean 'fail'?"},
      {[](auto& s) { s.mutable_training()->set_optimizer_state("shard"); }, "did you mean 'sharded'?"},
      {[](auto& s) {
         s.mutable_training()->set_optimizer_state("sharded");
         s.mutable_optimizer()->set_kind("muon");
       },
       "spec.training.optimizer_state: 'sharded' updates parts of a matrix by themselves, and optimizer 'muon' needs "
       "whole ones: use 'whole', or another spec.optimizer.kind"},
      {[](auto& s) {
         s.mutable_workers()->set_device("cuda");
         s.mutable_optimizer()->set_kind("muon");
       },
       "spec.optimizer.kind: 'muon' has no form for a GPU yet: use another one, or spec.workers.device 'cpu'"},
      {[](auto& s) { s.mutable_training()->set_max_skipped(5); },
       "spec.training.max_skipped: counts what spec.training.on_divergence 'skip' skips: set that, or remove this"},
      {[](auto& s) {
         s.mutable_training()->set_on_divergence("skip");
         s.mutable_training()->set_max_skipped(0);
       },
       "spec.training.max_skipped: 0 is out of range"},
  });
}

TEST(JobSpecErrors, Recovery) {
  ExpectRefused({
      {[](auto& s) { s.mutable_recovery()->set_lease("59.9"); },
       "spec.recovery.lease: 59.9 is out of range: use 60 to 2592000"},
      {[](auto& s) { s.mutable_recovery()->set_lease("nan"); }, "spec.recovery.lease: nan is out of range"},
      {[](auto& s) { s.mutable_recovery()->set_lease("10m"); },
       "spec.recovery.lease: '10m' is no number of seconds; or"},
  });
}

}  // namespace
}  // namespace rekindle::coordinator

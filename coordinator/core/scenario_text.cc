#include "coordinator/core/scenario_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/text.h"

namespace rekindle::core {

std::vector<std::string> DescribeMembership(const v1::Membership& m) {
  std::string source = "the initial state";
  if (m.source().has_rank()) source = absl::StrCat("rank ", m.source().rank());
  if (m.source().has_checkpoint()) source = absl::StrCat("checkpoint ", m.source().checkpoint());
  std::vector<std::string> lines = {absl::StrCat("generation ", m.generation(), " at step ", m.step(),
                                                 m.attempt() > 0 ? absl::StrCat(" attempt ", m.attempt()) : "",
                                                 m.interrupted() ? ", interrupted" : "", ", state from ", source)};
  for (const v1::Member& member : m.members()) {
    std::string line =
        absl::StrCat("  rank ", member.rank(), " ", member.trainer(), " [", member.begin(), ",", member.end(), ")");
    if (m.interrupted()) {
      absl::StrAppend(&line, " holds {", absl::StrJoin(member.holds(), " "), "} adds {",
                      absl::StrJoin(member.adds(), " "), "}");
    }
    if (member.needs_state()) absl::StrAppend(&line, " needs state");
    lines.push_back(line);
  }
  std::string shards;
  for (const v1::ShardHolders& shard : m.shards()) absl::StrAppend(&shards, " ", shard.first(), "+", shard.second());
  if (!shards.empty()) lines.push_back(absl::StrCat("  shards held by", shards));
  return lines;
}

std::string DescribeDirective(const v1::TrainerDirective& directive) {
  std::string line = v1::TrainerDirective::Action_Name(directive.action());
  if (directive.has_membership() && directive.action() != v1::TrainerDirective::WAIT) {
    absl::StrAppend(&line, " generation ", directive.membership().generation());
  }
  if (directive.checkpoint()) absl::StrAppend(&line, " with a checkpoint");
  if (directive.checkpoint_within_seconds() > 0) {
    absl::StrAppend(&line, " within ", directive.checkpoint_within_seconds(), " s");
  }
  if (directive.action() != v1::TrainerDirective::RUN) absl::StrAppend(&line, " (", directive.reason(), ")");
  if (!directive.error().empty()) absl::StrAppend(&line, " error: ", directive.error());
  return line;
}

std::string DescribeDirective(const v1::NodeDirective& directive) {
  std::vector<std::string> words;
  for (const v1::DesiredTrainer& trainer : directive.trainers()) {
    words.push_back(absl::StrCat(trainer.job_name(), " on slot ", trainer.slot()));
    if (trainer.micro_batch_at_most() > 0) {
      absl::StrAppend(&words.back(), ", to find a micro-batch of at most ", trainer.micro_batch_at_most());
    }
  }
  std::string line = words.empty() ? "nothing to run" : absl::StrCat("run ", JoinWords(words));
  if (directive.drained()) absl::StrAppend(&line, ", drained");
  if (!directive.error().empty()) absl::StrAppend(&line, " error: ", directive.error());
  return line;
}

}  // namespace rekindle::core

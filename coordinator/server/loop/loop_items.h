// Declares what other threads hand to the loop.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_ITEMS_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_ITEMS_H_

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/server/loop/directive_polls.h"

namespace rekindle::coordinator {

// The deadlines of items are times of the steady clock.
struct TrainerItem {
  v1::TrainerReport report;
  TrainerPolls::Reply reply;
  double deadline = 0;
};
struct NodeItem {
  v1::NodeReport report;
  NodePolls::Reply reply;
  NodePolls::Alive alive;
  double deadline = 0;
};

// Describes a change that a user asks for. All its functions run on the loop's thread, and `done` is called exactly
// once, whatever happens.
struct Mutation {
  // `request_id` is the id that the user gave to the request. It is empty where the user gave none.
  std::string request_id;
  // `call` says what was asked. A request id that was used for one `call` is refused with another one.
  std::string call;
  std::function<absl::StatusOr<core::Event>()> event;
  // `answer` returns the serialized reply. It runs after the core's step.
  std::function<absl::StatusOr<std::string>()> answer;
  std::function<void(absl::StatusOr<std::string>)> done;
};

using LoopTask = std::function<void()>;
using LoopItem = std::variant<TrainerItem, NodeItem, Mutation, core::PoolReported, LoopTask>;

// Answers the reports and changes in `items` with `why`, because nobody handles them any more. The tasks in `items`
// still run.
void Refuse(std::vector<LoopItem> items, const absl::Status& why);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_ITEMS_H_

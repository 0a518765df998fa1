#include "coordinator/server/loop/loop_items.h"

namespace rekindle::coordinator {

void Refuse(std::vector<LoopItem> items, const absl::Status& why) {
  for (LoopItem& item : items) {
    if (auto* trainer = std::get_if<TrainerItem>(&item)) trainer->reply(why);
    if (auto* node = std::get_if<NodeItem>(&item)) node->reply(why);
    if (auto* mutation = std::get_if<Mutation>(&item)) mutation->done(why);
    if (auto* task = std::get_if<LoopTask>(&item)) (*task)();
  }
}

}  // namespace rekindle::coordinator

// Maps the commands of a scenario to the functions that run them.
#include "coordinator/core/scenario/scenario.h"

namespace rekindle::core {
namespace {

DrainNode ToDrain(const std::string& node, const ScenarioOptions& options) {
  return {node, ToDouble(Get(options, "within", "0")), Get(options, "reason", "")};
}

ResumeJob ToResume(const std::string& uid, const ScenarioOptions& options) {
  return {.uid = uid,
          .budget = ToDouble(Get(options, "budget", "0")),
          .from = Get(options, "from", ""),
          .confirmed = options.count("yes") > 0,
          .store = Get(options, "store", ""),
          .old_is_gone = options.count("old_is_gone") > 0};
}

}  // namespace

const std::map<std::string, Scenario::Handler>& Scenario::Handlers() {
  static const std::map<std::string, Handler> handlers = {
      {"adopt", [](Scenario& s, const Command&) { s.coordinator_.Feed(AdoptJob{s.uid_}); }},
      {"answered", [](Scenario& s, const Command&) { s.coordinator_.NoteAnswer(s.uid_); }},
      {"backup", [](Scenario& s, const Command&) { s.coordinator_.Backup(); }},
      {"cancel",
       [](Scenario& s, const Command& c) {
         s.coordinator_.Feed(CancelJob{s.uid_, c.options.count("discard") > 0});
       }},
      {"carbon", [](Scenario& s, const Command& c) { s.coordinator_.SetCarbon(ToCarbon(c.options)); }},
      {"catch_up", [](Scenario& s, const Command&) { s.coordinator_.CatchUp(); }},
      {"clock",
       [](Scenario& s, const Command& c) {
         s.coordinator_.MoveClock(ToDouble(Get(c.options, "step", "0")), ToDouble(Get(c.options, "slept", "0")));
       }},
      {"costs", [](Scenario& s, const Command&) { s.ShowCosts(); }},
      {"drain", [](Scenario& s, const Command& c) { s.coordinator_.Feed(ToDrain(c.Word(1), c.options)); }},
      {"gone", [](Scenario& s, const Command& c) { s.coordinator_.Feed(NodeGone{c.Word(1)}); }},
      {"granted", [](Scenario& s, const Command&) { s.ShowGrant(); }},
      {"job", [](Scenario& s, const Command& c) { s.uid_ = c.Word(1) + "-uid"; }},
      {"live", [](Scenario& s, const Command& c) { s.Live(ToDouble(c.Word(1))); }},
      {"lost_machines", [](Scenario& s, const Command&) { s.ShowNeverRegistered(); }},
      {"members", [](Scenario& s, const Command&) { s.ShowMembers(); }},
      {"node", [](Scenario& s, const Command& c) { s.Node(c); }},
      {"pause", [](Scenario& s, const Command&) { s.coordinator_.Feed(PauseJob{s.uid_}); }},
      {"pool", [](Scenario& s, const Command& c) { s.coordinator_.Feed(ToPoolReport(c.Word(1), c.options)); }},
      {"price",
       [](Scenario& s, const Command& c) {
         s.coordinator_.Feed(PriceHeard{c.Word(1), ToDouble(c.Word(2))});
       }},
      {"prices", [](Scenario& s, const Command& c) { s.coordinator_.SetPrices(ToPrices(c.options)); }},
      {"recover", [](Scenario& s, const Command& c) { s.coordinator_.Recover(c.options), s.Restart(c); }},
      {"restart", [](Scenario& s, const Command& c) { s.Restart(c); }},
      {"restore", [](Scenario& s, const Command& c) { s.coordinator_.TakeCopyBack(), s.Restart(c); }},
      {"resume", [](Scenario& s, const Command& c) { s.coordinator_.Feed(ToResume(s.uid_, c.options)); }},
      {"rm", [](Scenario& s, const Command&) { s.coordinator_.Feed(ForgetJob{s.uid_}); }},
      {"save", [](Scenario& s, const Command& c) { s.coordinator_.SaveToStore(s.uid_, c.options); }},
      {"spoil", [](Scenario& s, const Command& c) { s.coordinator_.Spoil(s.uid_, c.Word(1)); }},
      {"stall", [](Scenario& s, const Command&) { s.coordinator_.Stall(); }},
      {"status", [](Scenario& s, const Command&) { s.ShowStatus(); }},
      {"submit", [](Scenario& s, const Command& c) { s.Submit(c); }},
      {"tick", [](Scenario& s, const Command& c) { s.coordinator_.Tick(ToDouble(c.Word(1))); }},
      {"undrain", [](Scenario& s, const Command& c) { s.coordinator_.Feed(UndrainNode{c.Word(1)}); }},
      {"vanish", [](Scenario& s, const Command& c) { s.Vanish(c); }},
  };
  return handlers;
}

}  // namespace rekindle::core

#include "worker/device/exchange/tickets.h"

#include <algorithm>
#include <utility>

#include "common/check/check.h"

namespace rekindle::device {

Exchange::Ticket Tickets::Begin() {
  const common::MutexLock lock(mutex_);
  entries_.push_back({.ended = !over_.ok(), .status = over_});
  return first_ + entries_.size() - 1;
}

Exchange::Ticket Tickets::Begin(std::vector<comm::Work> works) {
  const common::MutexLock lock(mutex_);
  entries_.push_back({.ended = true, .works = std::move(works)});
  return first_ + entries_.size() - 1;
}

Tickets::Entry* Tickets::Find(Exchange::Ticket ticket) {
  const bool is_there = ticket >= first_ && ticket - first_ < entries_.size();
  return is_there ? &entries_[ticket - first_] : nullptr;
}

void Tickets::End(Exchange::Ticket ticket, absl::Status status, Mark written) {
  const common::MutexLock lock(mutex_);
  Entry* entry = Find(ticket);
  if (entry == nullptr || std::exchange(entry->ended, true)) return;
  entry->status = std::move(status);
  entry->written = std::move(written);
  changed_.NotifyAll();
}

void Tickets::EndAll(const absl::Status& status) {
  common::Check(!status.ok(), "an exchange that carries out nothing more says why");
  const common::MutexLock lock(mutex_);
  over_ = status;
  for (Entry& entry : entries_) {
    if (!std::exchange(entry.ended, true)) entry.status = status;
  }
  changed_.NotifyAll();
}

bool Tickets::AllEnded() {
  const common::MutexLock lock(mutex_);
  return std::all_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.ended; });
}

absl::Status Tickets::Wait(Exchange::Ticket ticket) {
  Entry found;
  {
    common::MutexLock lock(mutex_);
    Entry* entry = Find(ticket);
    common::Check(entry != nullptr, "an operation is waited for before all of them were");
    changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return entry->ended; });
    found = *entry;
    entry->written = {};
  }
  for (const comm::Work& work : found.works) found.status.Update(work.Wait());
  if (found.written.state != nullptr) device_.After(Queue::kCompute, found.written);
  return found.status;
}

absl::Status Tickets::WaitAll() {
  absl::Status first;
  Exchange::Ticket begin = 0, end = 0;
  {
    const common::MutexLock lock(mutex_);
    begin = first_;
    end = first_ + entries_.size();
  }
  for (Exchange::Ticket ticket = begin; ticket < end; ++ticket) first.Update(Wait(ticket));
  const common::MutexLock lock(mutex_);
  entries_.clear();
  first_ = end;
  return first;
}

}  // namespace rekindle::device

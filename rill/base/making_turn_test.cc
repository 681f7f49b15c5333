#include "rill/base/making_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace rill {
namespace {

// Squares of numbers, each made once.
class Squares {
 public:
  std::function<void(int)> while_making = [](int) {};
  int made = 0;

  int of(int n) {
    std::unique_lock lock(mutex_);
    auto find = [&] {
      const auto it = squares_.find(n);
      return it == squares_.end() ? std::shared_ptr<const int>() : it->second;
    };
    if (auto found = turn_.find_or_take(lock, find)) return *found;
    const MakingTurn::Holder holder(turn_, lock);
    lock.unlock();
    while_making(n);
    auto square = std::make_shared<const int>(n * n);
    lock.lock();
    ++made;
    return *(squares_[n] = square);
  }

 private:
  std::mutex mutex_;
  MakingTurn turn_;
  std::map<int, std::shared_ptr<const int>> squares_;
};

TEST(MakingTurn, EachThingIsMadeOnceByOneThreadAtATime) {
  Squares squares;
  std::atomic<int> making = 0;
  squares.while_making = [&](int) {
    EXPECT_EQ(++making, 1);
    std::this_thread::yield();
    --making;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) EXPECT_EQ(squares.of(n), n * n);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(squares.made, 50);
}

TEST(MakingTurn, WhatIsThereIsFoundWhileSomethingElseIsMade) {
  Squares squares;
  squares.of(2);
  std::latch making(1), open(1);
  squares.while_making = [&](int) {
    making.count_down();
    open.wait();
  };
  std::thread slow([&] { EXPECT_EQ(squares.of(3), 9); });
  making.wait();
  EXPECT_EQ(squares.of(2), 4);
  open.count_down();
  slow.join();
}

TEST(MakingTurn, AfterAFailureTheNextThreadTries) {
  Squares squares;
  std::latch making(1), open(1);
  std::atomic<int> tries = 0;
  squares.while_making = [&](int) {
    if (++tries > 1) return;
    making.count_down();
    open.wait();
    throw std::runtime_error("not this time");
  };
  std::thread first([&] { EXPECT_THROW(squares.of(3), std::runtime_error); });
  making.wait();
  std::thread second([&] { EXPECT_EQ(squares.of(3), 9); });
  open.count_down();
  first.join();
  second.join();
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(squares.made, 1);
}

TEST(MakingTurn, WhoHasTheTurnMayTakeItAgain) {
  Squares squares;
  squares.while_making = [&](int n) {
    if (n > 0) squares.of(n - 1);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { EXPECT_EQ(squares.of(5), 25); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(squares.made, 6);
}

}  // namespace
}  // namespace rill

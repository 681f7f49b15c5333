#pragma once
#include <cstdint>

// How threads of the OpenMP pool wait for each other: spinning, which is best
// while every thread has a core, or sleeping, which is best in company. A
// spinning thread that is not needed takes the core of one that is; beside two
// busy processes a step takes several times as long as with sleeping threads,
// and alone sleeping costs a third to a half.
//
// So it is decided while the program runs. If the threads of the pool had to
// wait for a core, they sleep from then on; when there has been room for all of
// them for a while, they spin again. Nothing is done if the user has chosen
// (OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME), or where the kernel does not
// tell how long threads wait.
namespace rill {

// Called before each parallel region; looks at the clock, and a few dozen times
// a second at the system.
void adapt_waiting(int width);

// How many blocks of work (parallel_for's grains) make up for waking a thread: 1 while threads
// spin, or wait as the user has chosen; more while they sleep.
std::int64_t blocks_worth_a_thread();

// A thread of the pool says that it is one. Cheap after the first time.
void join_pool();

}  // namespace rill

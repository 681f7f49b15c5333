#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "rill/base/api.h"

// Where the time of an input pipeline goes, stage by stage:
//
//   std::cout << dataset.profile({.elements = 1000});
//   Stage                            elements   work ms  threads   wait ms  buffer     memory
//   PrefetchDataset                      1000       1.2        1     903.4  0.1 of 4   1.2 MB
//     ParallelMapDataset                 1001    1790.5        2     890.0  3.5 of 4   4.8 MB
//       TFRecordDataset                  1010      12.3        1       0.0
//   1000 elements in 0.95 s. The bottleneck is ParallelMapDataset, ...
namespace rill RILL_API {
namespace data {

struct ProfileOptions {
  std::int64_t elements = -1;  // so many; -1: all, or as many as come in `seconds`
  double seconds = 10;
};

struct StageProfile {
  std::string stage;          // "ParallelMapDataset"
  int depth = 0;              // how many stages are behind it
  std::int64_t elements = 0;  // that it gave
  double work_ms = 0;         // of all its threads, without that of other stages
  double wait_ms = 0;         // that others waited for what its threads make
  int threads = 1;
  double filled = 0;       // elements that its buffer held, on average
  std::int64_t room = 0;   // elements that it may hold; 0: it has none
  std::int64_t bytes = 0;  // the most that it held
};

struct PipelineProfile {
  std::vector<StageProfile> stages;  // the last one of the pipeline first
  std::int64_t elements = 0;
  double seconds = 0;
  std::string bottleneck;  // the stage that the others wait for
  std::string table() const;
};
std::ostream& operator<<(std::ostream& os, const PipelineProfile& profile);

}  // namespace data
}  // namespace RILL_API

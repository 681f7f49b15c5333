// What the planner does, under names by which it can be switched off like a pass: it
// needs the shapes, so it does them when a plan is made.
#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

std::string by_the_planner(Graph&) { return "done by each plan"; }

const PassRegistration folding(90, "fold_shapes",
                               "What shapes and constants decide is worked out once.",
                               by_the_planner);
const PassRegistration fusing(91, "fuse_elementwise",
                              "Elementwise chains run tile by tile in the cache.", by_the_planner);
const PassRegistration in_place(92, "in_place", "A result takes the place of an input that ends.",
                                by_the_planner);
const PassRegistration filters(93, "keep_filters",
                               "Filters that do not change stay packed from call to call.",
                               by_the_planner);

}  // namespace
}  // namespace rill

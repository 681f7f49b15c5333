#pragma once
#include <iosfwd>
#include <string_view>

namespace rill {

class Nest;

// How composites of a kind are printed. Ops that make composites say it when the program starts.
using CompositePrinter = void (*)(std::ostream& os, const Nest& composite);
bool register_composite_printer(std::string_view kind, CompositePrinter printer);

}  // namespace rill

#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "rill/core/attr.h"
#include "rill/core/op.h"
#include "rill_proto/attr_value.pb.h"

namespace rill {

// The name under which a function is in the library that is being written.
using FunctionNamer = std::function<std::string(const FunctionRef&)>;
void to_proto(const AttrValue& value, const FunctionNamer& name_of, proto::AttrValue* out);

// The function of that name in the library that is being read.
using FunctionFinder = std::function<FunctionRef(const proto::NameAttrList&)>;
// Adds the value of an attribute that a schema declares. InvalidArgument, in the
// name of `what`, when it is of another kind, or no value that the schema allows.
void add_from_proto(const AttrDef& def, const proto::AttrValue& value, const FunctionFinder& find,
                    std::int64_t& fill_bytes, std::string_view what, AttrStorage* out);

bool same_value(const AttrValue& a, const AttrValue& b);

}  // namespace rill

// The ops of lookup tables. Tables are handles: the ops look at the table behind them.
#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/lookup/table_impl.h"
#include "rill/ops/op_helpers.h"

namespace rill::lookup {
namespace {

using Ins = std::span<const In>;
using Outs = std::span<Tensor>;
using Shapes = std::span<const TensorShape>;

// The table of an op, where the shape function knows it; null: a handle that is yet to come.
LookupTable* known_table(ShapeContext& c) {
  const Tensor* handle = c.input_value(0);
  return handle ? &table_of(*handle, c.tag()) : nullptr;
}
LookupTable& table_in(const AttrReader& a, Ins in) { return table_of(*in[0], a.op().tag); }
void nothing(ShapeContext&) {}

// ---- making tables
void make_shape(ShapeContext& c) { scalar_shape(c); }
OpBuilder making(const char* name) {
  OpBuilder b(name, "lookup");
  b.output("table_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .type("key_dtype", kKeyTypes)
      .type("value_dtype", kValueTypes)
      .doc("A lookup table.")
      .shape(make_shape)
      .no_gradient()
      .stateful();
  return b;
}
void make(const AttrReader& a, const TensorShape& shape, Outs out) {
  auto* table = new LookupTable(a.op().name, a.type_attr("key_dtype"), a.type_attr("value_dtype"),
                                shape, std::string(a.string_attr("shared_name")));
  out[0] = make_resource(Ref<Resource>(table));
}
const Op& hash_table_op = making("HashTableV2")
                              .forward([](const AttrReader& a, Ins, Shapes, Outs out) {
                                make(a, TensorShape::scalar(), out);
                              })
                              .define();
const Op& mutable_table_op = making("MutableHashTableV2")
                                 .forward([](const AttrReader& a, Ins, Shapes, Outs out) {
                                   make(a, TensorShape::scalar(), out);
                                 })
                                 .define();
const Op& table_of_tensors_op = making("MutableHashTableOfTensorsV2")
                                    .attr("value_shape: shape = []")
                                    .forward([](const AttrReader& a, Ins, Shapes, Outs out) {
                                      make(a, a.shape_attr("value_shape"), out);
                                    })
                                    .define();
const Op& dense_table_op =
    OpBuilder("MutableDenseHashTableV2", "lookup")
        .input("empty_key: key_dtype")
        .input("deleted_key: key_dtype")
        .output("table_handle: resource")
        .attr("container: string = ''")
        .attr("shared_name: string = ''")
        .attr("use_node_name_sharing: bool = false")
        .type("key_dtype", kKeyTypes)
        .type("value_dtype", kValueTypes)
        .attr("value_shape: shape = []")
        .attr("initial_num_buckets: int = 131072")
        .attr("max_load_factor: float = 0.8")
        .doc("A lookup table of open addresses.")
        .shape(make_shape)
        .no_gradient()
        .stateful()
        .forward([](const AttrReader& a, Ins in, Shapes, Outs out) {
          auto* table =
              new DenseTable(in[0]->dtype(), a.type_attr("value_dtype"),
                             a.shape_attr("value_shape"), std::string(a.string_attr("shared_name")),
                             *in[0], *in[1], a.int_attr("initial_num_buckets"));
          out[0] = make_resource(Ref<Resource>(table));
        })
        .define();

// ---- filling them
OpBuilder filling(const char* name, const char* tag, const char* keys, const char* values) {
  OpBuilder b(name, tag);
  b.input("table_handle: resource")
      .input(std::string("keys: ") + keys)
      .input(std::string("values: ") + values)
      .type(keys, kKeyTypes)
      .type(values, kValueTypes)
      .shape(nothing)
      .no_gradient()
      .stateful();
  return b;
}
const Op& initialize_op = filling("InitializeTableV2", "lookup.initialize", "Tkey", "Tval")
                              .doc("Gives a table that never changes its keys and values.")
                              .forward([](const AttrReader& a, Ins in, Shapes, Outs) {
                                table_in(a, in).initialize(*in[1], *in[2], a.op().tag);
                              })
                              .define();
const Op& insert_op = filling("LookupTableInsertV2", "lookup.insert", "Tin", "Tout")
                          .doc("Adds keys to a table, or gives them other values.")
                          .forward([](const AttrReader& a, Ins in, Shapes, Outs) {
                            table_in(a, in).insert(*in[1], *in[2], a.op().tag);
                          })
                          .define();
const Op& import_op = filling("LookupTableImportV2", "lookup.import", "Tin", "Tout")
                          .doc("Gives a table other contents.")
                          .forward([](const AttrReader& a, Ins in, Shapes, Outs) {
                            table_in(a, in).replace(*in[1], *in[2], a.op().tag);
                          })
                          .define();
const Op& remove_op = OpBuilder("LookupTableRemoveV2", "lookup.remove")
                          .input("table_handle: resource")
                          .input("keys: Tin")
                          .type("Tin", kKeyTypes)
                          .doc("Takes keys out of a table.")
                          .shape(nothing)
                          .no_gradient()
                          .stateful()
                          .forward([](const AttrReader& a, Ins in, Shapes, Outs) {
                            table_in(a, in).remove(*in[1], a.op().tag);
                          })
                          .define();

const Op& from_file_op =
    OpBuilder("InitializeTableFromTextFileV2", "lookup.initialize")
        .input("table_handle: resource")
        .input("filename: string")
        .attr("key_index: int")
        .attr("value_index: int")
        .attr("vocab_size: int = -1")
        .attr("delimiter: string = '\t'")
        .attr("offset: int = 0")
        .doc("Gives a table that never changes the lines of a text file.")
        .shape([](ShapeContext& c) { require_rank(c, 1, 0, "filename"); })
        .no_gradient()
        .stateful()
        .forward([](const AttrReader& a, Ins in, Shapes, Outs) {
          LookupTable& table = table_in(a, in);
          TableContents how;
          how.key_dtype = table.key_dtype, how.value_dtype = table.value_dtype;
          how.filename = in[1]->item<std::string>();
          how.delimiter = a.string_attr("delimiter");
          how.key_index = static_cast<int>(a.int_attr("key_index"));
          how.value_index = static_cast<int>(a.int_attr("value_index"));
          how.vocab_size = a.int_attr("vocab_size"), how.offset = a.int_attr("offset");
          const UnrecordedScope unrecorded;
          const Tensor text = io::read_file(*in[1]);
          const auto [keys, values] = parse_table_file(text.item<std::string>(), how, a.op().tag);
          table.initialize(keys, values, a.op().tag);
        })
        .define();

// ---- reading them
void find_shape(ShapeContext& c) {
  LookupTable* table = known_table(c);
  if (!table || !c.input(1).has_rank()) return unknown_shape(c);
  Dims dims = c.input(1).dims();
  for (std::int64_t d : table->value_shape.dims()) dims.push_back(d);
  c.set_output(0, TensorShape(dims));
}
const Op& find_values_op = OpBuilder("LookupTableFindV2", "lookup.lookup")
                               .input("table_handle: resource")
                               .input("keys: Tin")
                               .input("default_value: Tout")
                               .output("values: Tout")
                               .type("Tin", kKeyTypes)
                               .type("Tout", kValueTypes)
                               .doc("The values of keys in a table.")
                               .shape(find_shape)
                               .no_gradient()
                               .variable(VariableUse::look)
                               .forward([](const AttrReader& a, Ins in, Shapes, Outs out) {
                                 out[0] = table_in(a, in).find(*in[1], *in[2], a.op().tag);
                               })
                               .define();
const Op& size_op = OpBuilder("LookupTableSizeV2", "lookup.size")
                        .input("table_handle: resource")
                        .output("size: int64")
                        .doc("The number of keys in a table.")
                        .shape(scalar_shape)
                        .no_gradient()
                        .variable(VariableUse::look)
                        .forward([](const AttrReader& a, Ins in, Shapes, Outs out) {
                          out[0] = to_tensor(table_in(a, in).size(), int64);
                        })
                        .define();
const Op& export_op = OpBuilder("LookupTableExportV2", "lookup.export")
                          .input("table_handle: resource")
                          .output("keys: Tkeys")
                          .output("values: Tvalues")
                          .type("Tkeys", kKeyTypes)
                          .type("Tvalues", kValueTypes)
                          .doc("All keys of a table and their values.")
                          .shape(unknown_shape)
                          .no_gradient()
                          .variable(VariableUse::look)
                          .forward([](const AttrReader& a, Ins in, Shapes, Outs out) {
                            std::tie(out[0], out[1]) = table_in(a, in).contents();
                          })
                          .define();

void run(const Op& op, const Tensor& handle, const Tensor& keys, const Tensor& values) {
  const In in[] = {handle, keys, values};
  execute_all(op, in, {}, 0);
}

}  // namespace

void initialize_table(const Tensor& handle, const Tensor& keys, const Tensor& values) {
  run(initialize_op, handle, keys, values);
}
void insert_into_table(const Tensor& handle, const Tensor& keys, const Tensor& values) {
  run(insert_op, handle, keys, values);
}
void import_table(const Tensor& handle, const Tensor& keys, const Tensor& values) {
  run(import_op, handle, keys, values);
}
void remove_from_table(const Tensor& handle, const Tensor& keys) {
  const In in[] = {handle, keys};
  execute_all(remove_op, in, {}, 0);
}
void initialize_table_from_file(const Tensor& handle, const TableContents& how) {
  const Tensor filename = constant(how.filename);
  const In in[] = {handle, filename};
  const Attr attrs[] = {{"key_index", how.key_index},
                        {"value_index", how.value_index},
                        {"vocab_size", how.vocab_size},
                        {"delimiter", how.delimiter},
                        {"offset", how.offset}};
  execute_all(from_file_op, in, attrs, 0);
}
Tensor find_in_table(const Tensor& handle, const Tensor& keys, const Tensor& default_value) {
  return execute(find_values_op, {handle, keys, default_value});
}
Tensor table_size(const Tensor& handle) { return execute(size_op, {handle}); }
std::pair<Tensor, Tensor> export_table(const Tensor& handle) {
  const LookupTable& table = table_of(handle, "lookup.export");
  const In in[] = {handle};
  const Attr attrs[] = {{"Tkeys", table.key_dtype}, {"Tvalues", table.value_dtype}};
  const std::vector<Tensor> out = execute_all(export_op, in, attrs, 2);
  return {out[0], out[1]};
}

}  // namespace rill::lookup

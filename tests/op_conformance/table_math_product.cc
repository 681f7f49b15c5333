#include "rill/ops/array_ops.h"
#include "rill/ops/linalg_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(math_product) {
  row("tensordot")
      .call([](const std::vector<Tensor>& in) {
        const Tensor &a = in[0], &b = in[1];  // [2, 3, 4], [4, 3, 2]
        return std::vector<Tensor>{
            tensordot(a, b, 1),
            tensordot(a, b, {{1}, {1}}),
            tensordot(a, b, {{0, 2}, {2, 0}}),
            tensordot(a, b, {{2, 1, 0}, {0, 1, 2}}),
            tensordot(a, b, {{-1}, {-3}}),
            tensordot(a(0, 0), b(all, 0, 0), 0),
            linalg::tensordot(b(all, all, 0), a(0, all, all), {{0, 1}, {1, 0}})};
      })
      .tf("[tf.tensordot(x0, x1, 1), tf.tensordot(x0, x1, [[1], [1]]), tf.tensordot(x0, x1, [[0, "
          "2], [2, 0]]), tf.tensordot(x0, x1, [[2, 1, 0], [0, 1, 2]]), "
          "tf.tensordot(x0, x1, [[-1], [-3]]), tf.tensordot(x0[0, 0], x1[:, 0, 0], 0), "
          "tf.tensordot(x1[:, :, 0], x0[0], [[0, 1], [1, 0]])]")
      .sample({x({2, 3, 4}), x({4, 3, 2})})
      .dtypes({float32, float64, int32, complex64})
      .tolerance(4e-6);
  row("tensordot_errors")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{tensordot(in[0], in[1], {{1, 0}, {0, 1}})};
      })
      .not_in_tensorflow("errors only")
      .error({x({2, 3}), x({2, 3})}, {},
             "axis 1 of a \\[2, 3\\] has size 3, axis 0 of b \\[2, 3\\] has size 2; expected equal "
             "sizes")
      .error({x({3}), x({3})}, {}, "axis 1 is out of range for rank 1");

  struct Case {
    const char *name, *equation;
    std::vector<TensorShape> shapes;
  };
  const std::vector<Case> cases = {
      {"matmul", "ij,jk->ik", {{2, 3}, {3, 4}}},
      {"matmul_b_turned", "ij,kj->ik", {{2, 3}, {4, 3}}},
      {"matmul_a_turned", "ji,jk->ki", {{3, 2}, {3, 4}}},
      {"batch", "bij,bjk->bik", {{2, 2, 3}, {2, 3, 2}}},
      {"batch_inside", "ibj,jbk->bki", {{2, 3, 2}, {2, 3, 2}}},
      {"implicit", "ij,jk", {{2, 3}, {3, 4}}},
      {"implicit_order", "ba", {{2, 3}}},
      {"transposed", "ijk->kij", {{2, 3, 4}}},
      {"sum", "ij->", {{2, 3}}},
      {"sum_row", "ij->i", {{2, 3}}},
      {"trace", "ii", {{3, 3}}},
      {"diagonal", "ii->i", {{3, 3}}},
      {"batch_trace", "bii->b", {{2, 3, 3}}},
      {"double_diagonal", "iji,jj->ij", {{2, 3, 2}, {3, 3}}},
      {"outer", "i,j->ij", {{2}, {3}}},
      {"elementwise", "ij,ij->ij", {{2, 3}, {2, 3}}},
      {"inner", "i,i->", {{3}, {3}}},
      {"sum_of_one", "ij,k->ik", {{2, 3}, {2}}},
      {"attention", "bthd,bshd->bhts", {{2, 2, 2, 3}, {2, 3, 2, 3}}},
      {"two_summed", "abcd,cde->abe", {{2, 1, 2, 3}, {2, 3, 2}}},
      {"scalars", ",->", {{}, {}}},
      {"spaces", " i j , j k -> i k ", {{2, 3}, {3, 4}}},
      {"dots", "...ij,...jk->...ik", {{2, 1, 2, 3}, {4, 3, 2}}},
      {"dots_broadcast", "...ij,jk->...ik", {{2, 3, 2}, {2, 3}}},
      {"dots_last", "i...->...", {{2, 3}}},
      {"empty", "ij,jk->ik", {{2, 0}, {0, 3}}},
      {"upper", "aB,Bc->ca", {{2, 3}, {3, 2}}},
  };
  for (const Case& c : cases) {
    std::vector<Input> inputs;
    std::string args;
    for (const TensorShape& s : c.shapes)
      inputs.push_back(x(s)), args += ", x" + std::to_string(inputs.size() - 1);
    row(std::string("einsum_") + c.name)
        .call([equation = std::string(c.equation)](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{einsum(equation, in)};
        })
        .tf("tf.einsum('" + std::string(c.equation) + "'" + args + ")")
        .sample(inputs)
        .dtypes({float32, float64, int32, complex64})
        .tolerance(4e-6);
  }
  row("einsum_dots_implicit")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{einsum("...ij,...j", in)};
      })
      .tf("tf.einsum('...ij,...j->...i', x0, x1)")
      .sample({x({2, 2, 3}), x({1, 3})})
      .tolerance(4e-6);
  row("Einsum")
      .sizes_must_be_known("its gradient goes by the ranks")
      .sample({x({2, 3}), x({3, 4})}, {{"equation", "ij,jk->ik"}})
      .sample({x({2, 3}), x({3, 4})}, {{"equation", "ij,jk->k"}})
      .sample({x({2, 1, 3, 2}), x({4, 2, 3})}, {{"equation", "...ij,...jk->...ik"}})
      .sample({x({2, 3, 3})}, {{"equation", "aii->ia"}})
      .sample({x({3, 3}), x({3})}, {{"equation", "ii,i->"}})
      .sample({x({2, 3, 4})}, {{"equation", "abc->cab"}})
      .sample({x({2, 3, 4})}, {{"equation", "abc->b"}})
      .sample({x({2}), x({3})}, {{"equation", "i,j->ji"}})
      .dtypes(kRealFloatTypes | kComplexTypes | TypeSet{int32})
      .error({x({2, 3}), x({3, 4})}, {{"equation", "ij->i"}}, "has 1 terms for 2 tensors")
      .error({x({2}), x({2}), x({2})}, {{"equation", "i,i,i->i"}}, "the op takes 1 or 2");
  row("einsum_three")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{einsum("ij,jk,kl->il", in), linalg::einsum("ij,jk,kl->jl", in)};
      })
      .tf("[tf.einsum('ij,jk,kl->il', x0, x1, x2), tf.einsum('ij,jk,kl->jl', x0, x1, x2)]")
      .sample({x({2, 3}), x({3, 2}), x({2, 3})})
      .tolerance(4e-6);
  auto wrong = [](const char* name, const char* equation, std::vector<Input> inputs,
                  const char* error) {
    row(std::string("einsum_error_") + name)
        .call([equation](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{einsum(equation, in)};
        })
        .not_in_tensorflow("errors only")
        .error(std::move(inputs), {}, error);
  };
  wrong("terms", "ij,jk->ik", {x({2, 2})},
        "\"ij,jk->ik\" has 2 terms for 1 tensors; expected one a tensor");
  wrong(
      "rank", "ijk->ik", {x({2, 2})},
      "tensor 0 has shape \\[2, 2\\], its term in \"ijk->ik\" has 3 labels; expected one an axis");
  wrong("size", "ij,jk->ik", {x({2, 3}), x({2, 3})},
        "label 'j' of \"ij,jk->ik\" has size 2 in tensor 1 of shape \\[2, 3\\] but 3 before");
  wrong("output", "ij->ik", {x({2, 3})}, "label 'k' of the output of \"ij->ik\" is in no input");
  wrong("twice", "ij->ii", {x({2, 3})}, "label 'i' comes twice in the output");
  wrong("dots", "...i->i", {x({2, 3})}, "the output of \"...i->i\" has no \"...\" for the 1 axes");
  wrong("label", "i1->i", {x({2, 3})}, "'1' in \"i1->i\" is not a label");
}

}  // namespace rill::conformance

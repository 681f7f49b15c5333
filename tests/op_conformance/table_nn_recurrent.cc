#include "rill/graph/control_flow/gru_sequence.h"
#include "rill/graph/control_flow/lstm_sequence.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(nn_recurrent) {
  const char* why =
      "one op of what TensorFlow composes; the goldens of keras::layers and the tests "
      "of the steps written out say what it should give";
  row("LSTMSequence")
      .sample({x({3, 2, 4}), x({2, 3}), x({2, 3}), x({4, 12}), x({3, 12}), x({12})})
      .sample({x({1, 1, 1}), x({1, 1}), x({1, 1}), x({1, 4}), x({1, 4}), x({4})})
      .sample({x({5, 3, 7}), x({3, 20}), x({3, 20}), x({7, 80}, -.3, .3), x({20, 80}, -.3, .3),
               x({80})})
      .sample({x({0, 2, 4}), x({2, 3}), x({2, 3}), x({4, 12}), x({3, 12}), x({12})})
      .sample({x({2, 0, 4}), x({0, 3}), x({0, 3}), x({4, 12}), x({3, 12}), x({12})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .not_in_tensorflow(why)
      .no_gradient_check("kept has no gradient; the row lstm_sequence checks the others")
      .error({x({3, 2}), x({2, 3}), x({2, 3}), x({4, 12}), x({3, 12}), x({12})}, {}, "x.*rank 3")
      .error({x({3, 2, 4}), x({5, 3}), x({2, 3}), x({4, 12}), x({3, 12}), x({12})}, {},
             "the batches of x and h")
      .error({x({3, 2, 4}), x({2, 3}), x({2, 3}), x({5, 12}), x({3, 12}), x({12})}, {},
             "the features of x and the rows of kernel")
      .error({x({3, 2, 4}), x({2, 3}), x({2, 3}), x({4, 9}), x({3, 9}), x({9})}, {},
             "for 9 numbers a step; expected 12, 4 gates of 3 units");
  row("LSTMSequenceGrad")
      .sample({x({3, 2, 2}), x({2, 2}), x({2, 2}), x({3, 2, 4}), x({2, 2}), x({2, 2}), x({4, 8}),
               x({2, 8}), x({8}), x({3, 2, 2}, -1, 1), x({3, 2, 10}, 0, 1)})
      .sample({x({0, 2, 2}), x({2, 2}), x({2, 2}), x({0, 2, 4}), x({2, 2}), x({2, 2}), x({4, 8}),
               x({2, 8}), x({8}), x({0, 2, 2}), x({0, 2, 10})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .not_in_tensorflow(why)
      .no_gradient_check(
          "y and kept are functions of x; the row lstm_sequence checks the second order")
      .error({x({3, 2, 5}), x({2, 2}), x({2, 2}), x({3, 2, 4}), x({2, 2}), x({2, 2}), x({4, 8}),
              x({2, 8}), x({8}), x({3, 2, 2}), x({3, 2, 10})},
             {}, "y_backprop has shape \\[3, 2, 5\\]; expected \\[3, 2, 2\\]");
  row("lstm_sequence")
      .call([](const std::vector<Tensor>& in) {
        const LstmResult r = lstm_sequence({in[0], in[1], in[2], in[3], in[4], in[5]});
        return std::vector<Tensor>{r.outputs, r.h, r.c};
      })
      .sample({x({3, 2, 2}), x({2, 2}), x({2, 2}), x({2, 8}), x({2, 8}), x({8})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .sizes_must_be_known("the second derivative writes the steps out")
      .not_in_tensorflow(why);
  row("GRUSequence")
      .sample({x({3, 2, 4}), x({2, 3}), x({4, 9}), x({3, 9}), x({2, 9})})
      .sample({x({1, 1, 1}), x({1, 1}), x({1, 3}), x({1, 3}), x({2, 3})})
      .sample({x({5, 3, 7}), x({3, 20}), x({7, 60}, -.3, .3), x({20, 60}, -.3, .3), x({2, 60})})
      .sample({x({0, 2, 4}), x({2, 3}), x({4, 9}), x({3, 9}), x({2, 9})})
      .sample({x({2, 0, 4}), x({0, 3}), x({4, 9}), x({3, 9}), x({2, 9})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .not_in_tensorflow(why)
      .no_gradient_check("kept has no gradient; the row gru_sequence checks the others")
      .error({x({3, 2}), x({2, 3}), x({4, 9}), x({3, 9}), x({2, 9})}, {}, "x.*rank 3")
      .error({x({3, 2, 4}), x({5, 3}), x({4, 9}), x({3, 9}), x({2, 9})}, {},
             "the batches of x and h")
      .error({x({3, 2, 4}), x({2, 3}), x({4, 9}), x({3, 9}), x({1, 9})}, {}, "the rows of bias")
      .error({x({3, 2, 4}), x({2, 3}), x({4, 12}), x({3, 12}), x({2, 12})}, {},
             "for 12 numbers a step; expected 9, 3 gates of 3 units");
  row("GRUSequenceGrad")
      .sample({x({3, 2, 2}), x({2, 2}), x({3, 2, 4}), x({2, 2}), x({4, 6}), x({2, 6}), x({2, 6}),
               x({3, 2, 2}, -1, 1), x({3, 2, 8}, 0, 1)})
      .sample({x({0, 2, 2}), x({2, 2}), x({0, 2, 4}), x({2, 2}), x({4, 6}), x({2, 6}), x({2, 6}),
               x({0, 2, 2}), x({0, 2, 8})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .not_in_tensorflow(why)
      .no_gradient_check("y and kept are functions of x; gru_sequence checks the second order")
      .error({x({3, 2, 5}), x({2, 2}), x({3, 2, 4}), x({2, 2}), x({4, 6}), x({2, 6}), x({2, 6}),
              x({3, 2, 2}), x({3, 2, 8})},
             {}, "y_backprop has shape \\[3, 2, 5\\]; expected \\[3, 2, 2\\]");
  row("gru_sequence")
      .call([](const std::vector<Tensor>& in) {
        const GruResult r = gru_sequence({in[0], in[1], in[2], in[3], in[4]});
        return std::vector<Tensor>{r.outputs, r.h};
      })
      .sample({x({3, 2, 2}), x({2, 2}), x({2, 6}), x({2, 6}), x({2, 6})})
      .dtypes(kFloatTypes)
      .tolerance(1e-5)
      .sizes_must_be_known("the second derivative writes the steps out")
      .not_in_tensorflow(why);
}

}  // namespace rill::conformance

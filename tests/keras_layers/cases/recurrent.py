"""Cells, recurrent layers and the wrappers around layers of sequences."""
import numpy as np
from tensorflow.keras import layers

MASK = np.array([[True, True, False, False], [False, True, True, True], [True, False, True, False]])
ALL_MASKED = np.array([[True, True, True, True], [False, False, False, False], [True, False, True, True]])


def cell(name, layer, states, units=3):
    return dict(name=name, layer=layer, inputs=[(2, 4)] + [(2, units)] * states, cell=True)


def recurrent(kind):
    """A layer with each argument that all recurrent layers have."""
    make = getattr(layers, kind)
    name = kind.lower()
    states = 2 if kind == "LSTM" else 1
    x = dict(inputs=[(3, 4, 2)])
    return [
        dict(name=name, layer=lambda: make(3), **x),
        dict(name=name + "_sequences", layer=lambda: make(3, return_sequences=True), **x),
        dict(name=name + "_state", layer=lambda: make(3, return_state=True), **x),
        dict(name=name + "_both", layer=lambda: make(3, return_sequences=True, return_state=True), **x),
        dict(name=name + "_backwards", layer=lambda: make(3, go_backwards=True, return_sequences=True, return_state=True), **x),
        dict(name=name + "_no_bias", layer=lambda: make(3, use_bias=False), **x),
        dict(name=name + "_activation", layer=lambda: make(3, activation="relu"), **x),
        dict(name=name + "_unroll", layer=lambda: make(3, unroll=True, return_sequences=True), **x),
        dict(name=name + "_time_major", layer=lambda: make(3, time_major=True, return_sequences=True), **x),
        dict(name=name + "_initial_state", layer=lambda: make(3, return_sequences=True, return_state=True), states=[(3, 3)] * states, **x),
        dict(name=name + "_options", layer=lambda: make(
            3, kernel_regularizer="l2", recurrent_regularizer="l1", bias_regularizer="l2", activity_regularizer="l1",
            kernel_constraint="non_neg", recurrent_constraint="max_norm", bias_constraint="unit_norm",
            kernel_initializer="he_normal", recurrent_initializer="glorot_uniform", bias_initializer="ones",
            dropout=0.25, recurrent_dropout=0.5), **x),
        dict(name=name + "_mask", layer=lambda: make(3, return_state=True), masks=[MASK], **x),
        dict(name=name + "_mask_sequences", layer=lambda: make(3, return_sequences=True, return_state=True), masks=[ALL_MASKED], **x),
        dict(name=name + "_mask_backwards", layer=lambda: make(3, return_sequences=True, go_backwards=True), masks=[MASK], **x),
        dict(name=name + "_mask_zeros", layer=lambda: make(3, return_sequences=True, zero_output_for_mask=True), masks=[MASK], **x),
        dict(name=name + "_one_step", layer=lambda: make(3), inputs=[(2, 1, 2)]),
    ]


CASES = [
    cell("simple_rnn_cell", lambda: layers.SimpleRNNCell(3), 1),
    cell("simple_rnn_cell_no_bias", lambda: layers.SimpleRNNCell(3, activation="relu", use_bias=False), 1),
    cell("gru_cell", lambda: layers.GRUCell(3), 1),
    cell("gru_cell_reset_before", lambda: layers.GRUCell(3, reset_after=False, recurrent_activation="hard_sigmoid"), 1),
    cell("gru_cell_implementation_1", lambda: layers.GRUCell(3, implementation=1, use_bias=False), 1),
    cell("lstm_cell", lambda: layers.LSTMCell(3), 2),
    cell("lstm_cell_options", lambda: layers.LSTMCell(3, activation="softsign", recurrent_activation="hard_sigmoid", unit_forget_bias=False, implementation=1), 2),
]
CASES += recurrent("SimpleRNN") + recurrent("GRU") + recurrent("LSTM")
CASES += [
    dict(name="gru_reset_before", layer=lambda: layers.GRU(3, reset_after=False, return_sequences=True), inputs=[(3, 4, 2)]),
    dict(name="gru_recurrent_activation", layer=lambda: layers.GRU(3, recurrent_activation="hard_sigmoid"), inputs=[(3, 4, 2)]),
    dict(name="lstm_no_unit_forget_bias", layer=lambda: layers.LSTM(3, unit_forget_bias=False), inputs=[(3, 4, 2)]),
    dict(name="lstm_recurrent_activation", layer=lambda: layers.LSTM(3, recurrent_activation="hard_sigmoid"), inputs=[(3, 4, 2)]),
    dict(name="rnn", layer=lambda: layers.RNN(layers.GRUCell(3), return_sequences=True), inputs=[(3, 4, 2)]),
    dict(name="rnn_mask", layer=lambda: layers.RNN(layers.LSTMCell(3), return_state=True, go_backwards=True), masks=[MASK], inputs=[(3, 4, 2)]),
    dict(name="rnn_stacked", layer=lambda: layers.RNN(layers.StackedRNNCells([layers.LSTMCell(3), layers.SimpleRNNCell(2)]), return_sequences=True), inputs=[(2, 4, 2)]),
    dict(name="bidirectional", layer=lambda: layers.Bidirectional(layers.LSTM(2)), inputs=[(3, 4, 2)]),
    dict(name="bidirectional_sequences", layer=lambda: layers.Bidirectional(layers.GRU(2, return_sequences=True)), inputs=[(3, 4, 2)]),
    dict(name="bidirectional_state", layer=lambda: layers.Bidirectional(layers.LSTM(2, return_sequences=True, return_state=True)), inputs=[(3, 4, 2)]),
    dict(name="bidirectional_initial_state", layer=lambda: layers.Bidirectional(layers.GRU(2)), states=[(3, 2)] * 2, inputs=[(3, 4, 2)]),
    dict(name="bidirectional_mask", layer=lambda: layers.Bidirectional(layers.LSTM(2, return_sequences=True)), masks=[MASK], inputs=[(3, 4, 2)]),
    dict(name="bidirectional_other", layer=lambda: layers.Bidirectional(layers.GRU(2), backward_layer=layers.LSTM(2, go_backwards=True), merge_mode="sum"), inputs=[(3, 4, 2)]),
    dict(name="time_distributed_dense", layer=lambda: layers.TimeDistributed(layers.Dense(3, activation="tanh")), inputs=[(2, 3, 4)]),
    dict(name="time_distributed_rank_4", layer=lambda: layers.TimeDistributed(layers.Flatten()), inputs=[(2, 3, 2, 2)]),
]
for mode in ("sum", "mul", "ave", None):
    CASES.append(dict(name="bidirectional_%s" % mode, layer=lambda mode=mode: layers.Bidirectional(
        layers.SimpleRNN(2, return_sequences=True), merge_mode=mode), inputs=[(3, 4, 2)]))

CASES += [
    dict(name="conv_lstm1d", layer=lambda: layers.ConvLSTM1D(2, 3), inputs=[(2, 3, 6, 2)]),
    dict(name="conv_lstm1d_dilation", layer=lambda: layers.ConvLSTM1D(2, 2, dilation_rate=2, use_bias=False), inputs=[(2, 3, 6, 2)]),
    dict(name="conv_lstm2d", layer=lambda: layers.ConvLSTM2D(2, (2, 3), return_sequences=True, return_state=True), inputs=[(2, 3, 4, 5, 2)]),
    dict(name="conv_lstm2d_same", layer=lambda: layers.ConvLSTM2D(2, 3, strides=2, padding="same", recurrent_activation="sigmoid",
                                                                 unit_forget_bias=False, go_backwards=True), inputs=[(2, 3, 5, 4, 1)]),
    dict(name="conv_lstm2d_options", layer=lambda: layers.ConvLSTM2D(
        2, 2, padding="same", activation="relu", kernel_regularizer="l2", recurrent_regularizer="l1", bias_regularizer="l2",
        activity_regularizer="l1", kernel_constraint="non_neg", recurrent_constraint="max_norm", bias_constraint="unit_norm",
        kernel_initializer="he_normal", recurrent_initializer="glorot_uniform", bias_initializer="ones",
        dropout=0.25, recurrent_dropout=0.5), inputs=[(2, 3, 4, 4, 1)]),
    dict(name="conv_lstm2d_mask", layer=lambda: layers.ConvLSTM2D(2, 2, return_sequences=True), masks=[MASK], inputs=[(3, 4, 3, 3, 1)]),
    dict(name="conv_lstm2d_initial_state", layer=lambda: layers.ConvLSTM2D(2, 2, padding="same"), states=[(2, 3, 3, 2)] * 2, inputs=[(2, 3, 3, 3, 1)]),
    dict(name="conv_lstm3d", layer=lambda: layers.ConvLSTM3D(2, 2, padding="same"), inputs=[(1, 2, 3, 3, 2, 1)]),
    dict(name="bidirectional_conv_lstm2d", layer=lambda: layers.Bidirectional(layers.ConvLSTM2D(2, 2, padding="same")), inputs=[(1, 3, 3, 3, 1)]),
]

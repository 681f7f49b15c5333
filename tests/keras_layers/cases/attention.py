"""Attention, AdditiveAttention, MultiHeadAttention."""
import numpy as np
from tensorflow.keras import layers

QUERY_MASK = np.array([[True, True, False], [True, False, True]])
VALUE_MASK = np.array([[True, False, True, True], [False, True, True, False]])
PAIR_MASK = np.array([[[True, False, True, True], [True, True, True, False], [False, True, False, False]],
                      [[True, True, True, True], [False, False, True, False], [True, False, False, True]]])
QV = [(2, 3, 5), (2, 4, 5)]
QVK = QV + [(2, 4, 5)]
SCORES = {"return_attention_scores": True}
CAUSAL = {"use_causal_mask": True}


def dense(name, layer, inputs=QV, **more):
    return dict(name=name, layer=layer, inputs=inputs, **more)


def heads(name, inputs=QV, call={}, masks=None, attention_mask=None, **options):
    case = dict(name="heads_" + name, inputs=inputs, call=call, spread=True,
                layer=lambda: layers.MultiHeadAttention(2, 3, **options))
    if masks:
        case["masks"] = masks
    if attention_mask is not None:
        case["attention_mask"] = attention_mask
    return case


CASES = [
    dense("attention", lambda: layers.Attention()),
    dense("attention_key", lambda: layers.Attention(dropout=0.5), QVK),
    dense("attention_scale", lambda: layers.Attention(use_scale=True)),
    dense("attention_concat", lambda: layers.Attention(score_mode="concat"), QVK),
    dense("attention_concat_scale", lambda: layers.Attention(use_scale=True, score_mode="concat")),
    dense("attention_masks", lambda: layers.Attention(), masks=[QUERY_MASK, VALUE_MASK], call=SCORES),
    dense("attention_value_mask", lambda: layers.Attention(), masks=[None, VALUE_MASK]),
    dense("attention_causal", lambda: layers.Attention(), call=dict(SCORES, **CAUSAL)),
    dense("attention_causal_masks", lambda: layers.Attention(), masks=[QUERY_MASK, VALUE_MASK], call=CAUSAL),
    dense("additive", lambda: layers.AdditiveAttention()),
    dense("additive_no_scale", lambda: layers.AdditiveAttention(use_scale=False), QVK),
    dense("additive_masks", lambda: layers.AdditiveAttention(dropout=0.25), masks=[QUERY_MASK, VALUE_MASK], call=SCORES),
    heads("plain"),
    heads("key", [(2, 3, 5), (2, 4, 6), (2, 4, 7)]),
    heads("value_dim", value_dim=4, dropout=0.5),
    heads("no_bias", use_bias=False, output_shape=(7,)),
    heads("output_shape", output_shape=(2, 3)),
    heads("scores", call=SCORES),
    heads("causal", [(2, 4, 5), (2, 4, 5)], call=dict(SCORES, **CAUSAL)),
    heads("attention_mask", attention_mask=PAIR_MASK),
    heads("attention_mask_key", QVK, attention_mask=PAIR_MASK, call=CAUSAL),
    heads("masks", masks=[QUERY_MASK, VALUE_MASK]),
    heads("all_masks", masks=[QUERY_MASK, VALUE_MASK], attention_mask=PAIR_MASK, call=dict(SCORES, **CAUSAL)),
    heads("rank_4", [(2, 2, 3, 4), (2, 3, 2, 4)], call=SCORES),
    heads("axis_2", [(2, 2, 3, 4), (2, 2, 4, 4)], attention_axes=(2,)),
    heads("options", kernel_regularizer="l2", bias_regularizer="l1", kernel_constraint="max_norm", bias_constraint="non_neg",
          kernel_initializer="he_uniform", bias_initializer="ones", activity_regularizer="l2"),
]

"""Writes rill/keras/initializers/testdata/initializers.txt: the values that
Keras's initializers give with seeds.

    make_initializer_goldens.py > rill/keras/initializers/testdata/initializers.txt
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

I = tf.keras.initializers
CASES = {
    "RandomUniform": (I.RandomUniform(seed=1), (2, 3)),
    "RandomUniform_bounds": (I.RandomUniform(-2.0, 3.0, seed=7), (5,)),
    "RandomNormal": (I.RandomNormal(seed=1), (2, 3)),
    "RandomNormal_mean": (I.RandomNormal(2.0, 0.5, seed=3), (5,)),
    "TruncatedNormal": (I.TruncatedNormal(seed=5), (20,)),
    "VarianceScaling": (I.VarianceScaling(seed=2), (4, 3)),
    "VarianceScaling_fan_out": (I.VarianceScaling(3.0, "fan_out", "untruncated_normal", seed=2), (4, 3)),
    "GlorotUniform": (I.GlorotUniform(seed=42), (4, 3)),
    "GlorotUniform_conv": (I.GlorotUniform(seed=42), (2, 2, 3, 4)),
    "GlorotUniform_vector": (I.GlorotUniform(seed=42), (4,)),
    "GlorotUniform_scalar": (I.GlorotUniform(seed=42), ()),
    "GlorotNormal": (I.GlorotNormal(seed=42), (4, 3)),
    "HeUniform": (I.HeUniform(seed=42), (4, 3)),
    "HeNormal": (I.HeNormal(seed=42), (4, 3)),
    "LecunUniform": (I.LecunUniform(seed=42), (4, 3)),
    "LecunNormal": (I.LecunNormal(seed=42), (4, 3)),
    "Orthogonal": (I.Orthogonal(seed=9), (4, 3)),
    "Orthogonal_wide": (I.Orthogonal(2.0, seed=9), (2, 5)),
    "Orthogonal_conv": (I.Orthogonal(seed=9), (2, 2, 2, 3)),
    "Identity": (I.Identity(2.0), (2, 3)),
}
for name, (initializer, shape) in CASES.items():
    values = tf.reshape(initializer(shape), [-1]).numpy()
    print(name, *(repr(float(v)) for v in values))

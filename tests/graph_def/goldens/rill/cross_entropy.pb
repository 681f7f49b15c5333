
2
xPlaceholder*
dtype0*
shape
:
.
yPlaceholder*
dtype0*
shape:

SoftmaxSoftmaxx*
T0
$

LogSoftmax
LogSoftmaxx*
T0
h
#SparseSoftmaxCrossEntropyWithLogits#SparseSoftmaxCrossEntropyWithLogitsxy*
T0*
Tlabels0
&
output_0IdentitySoftmax*
T0
)
output_1Identity
LogSoftmax*
T0
B
output_2Identity#SparseSoftmaxCrossEntropyWithLogits*
T0"í
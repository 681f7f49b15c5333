
:
xPlaceholder*
dtype0*
shape:
:
yPlaceholder*
dtype0*
shape:
f
DepthwiseConv2dNativeDepthwiseConv2dNativexy*
T0*
paddingVALID*
strides

4
output_0IdentityDepthwiseConv2dNative*
T0"í
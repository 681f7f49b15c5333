
:
xPlaceholder*
dtype0*
shape:
:
yPlaceholder*
dtype0*
shape:
.
zPlaceholder*
dtype0*
shape:
G
Conv2DConv2Dxy*
T0*
paddingSAME*
strides

&
BiasAddBiasAddConv2Dz*
T0

ReluReluBiasAdd*
T0
#
output_0IdentityRelu*
T0"í
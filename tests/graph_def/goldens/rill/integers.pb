
.
xPlaceholder*
dtype0*
shape:
.
yPlaceholder*
dtype0*
shape:
#
floordivFloorDivxy*
T0
#
FloorModFloorModxy*
T0
)
TruncateDivTruncateDivxy*
T0
'

BitwiseAnd
BitwiseAndxy*
T0

AbsAbsy*
T0
'
	LeftShift	LeftShiftxAbs*
T0
'
output_0Identityfloordiv*
T0
'
output_1IdentityFloorMod*
T0
*
output_2IdentityTruncateDiv*
T0
)
output_3Identity
BitwiseAnd*
T0
(
output_4Identity	LeftShift*
T0"í
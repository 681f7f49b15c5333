
.
xPlaceholder*
dtype0*
shape:
.
yPlaceholder*
dtype0*
shape:

ComplexComplexxy

ConjConjComplex*
T0
"
mulMulComplexConj*
T0

RealRealComplex

ImagImagComplex
!

ComplexAbs
ComplexAbsComplex
"
output_0Identitymul*
T0
#
output_1IdentityReal*
T0
#
output_2IdentityImag*
T0
)
output_3Identity
ComplexAbs*
T0"í
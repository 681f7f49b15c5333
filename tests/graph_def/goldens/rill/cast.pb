
2
xPlaceholder*
dtype0*
shape
:
'
CastCastx*

DstT0*

SrcT0
)
Cast_1Castx*

DstT0	*

SrcT0
.
Cast_2CastCast_1*

DstT0
*

SrcT0	
)
Cast_3Castx*

DstT0*

SrcT0
)
Cast_4Castx*

DstT0*

SrcT0
)
Cast_5Castx*

DstT0*

SrcT0
.
Cast_6CastCast_5*

DstT0*

SrcT0
)
Cast_7Castx*

DstT0*

SrcT0
.
Cast_8CastCast_7*

DstT0*

SrcT0
#
output_0IdentityCast*
T0
%
output_1IdentityCast_2*
T0

%
output_2IdentityCast_3*
T0
%
output_3IdentityCast_4*
T0
%
output_4IdentityCast_6*
T0
%
output_5IdentityCast_8*
T0"í
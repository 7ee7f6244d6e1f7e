"""Where we differ from Paddle on purpose, and why. An entry that matches no differing case is stale."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Deliberate:
    """A class of differences: patterns of the case's text, the kind of difference (alternatives by |), the reason."""

    cases: tuple[str, ...]
    kinds: str
    reason: str

    def covers(self, case: str, kind: str) -> bool:
        """Say whether this is the reason for a difference."""
        if not any(fnmatchcase(kind, pattern) for pattern in self.kinds.split("|")):
            return False
        return any(fnmatchcase(case.replace("[", "("), pattern.replace("[", "(")) for pattern in self.cases)


# The first entry that covers a difference is its reason.
DELIBERATE: tuple[Deliberate, ...] = (
    Deliberate(("*",), "error class AttributeError|error class UnboundLocalError|error class SystemError", "Paddle fails inside on what is no tensor; vitrify says which argument is wrong"),
    Deliberate(("*",), "error class RuntimeError", "what Paddle's kernels refuse as RuntimeError are arguments that do not fit: ValueError or TypeError"),
    Deliberate(("*",), "only Paddle's backward raises", "Paddle's backward fails for what its forward computes"),
    # Layers and losses
    Deliberate(("paddle.nn.functional.selu(float64*", "paddle.nn.functional.hardsigmoid(float64*"), "*", "Paddle rounds the settings of float64 functions to float32"),
    Deliberate(("paddle.nn.functional.cross_entropy(*ignore_index=2, label_smoothing=0.1)",), "values", "ignored classes do not count, as its documentation says; Paddle looks for 2 among the smoothed labels"),
    # Arguments taken that Paddle refuses
    Deliberate(("paddle.*], 2)", "paddle.*], 2.5)", "paddle.*], True)", "Tensor.__and__*", "Tensor.__or__*", "Tensor.__xor__*"), "only Paddle raises",
               "functions and operators of two tensors take a Python number for the second"),
    Deliberate(("Tensor.__*, [1.0, 2.0])", "Tensor.__*, array*"), "only Paddle raises", "operators take lists and arrays of numbers"),
    Deliberate(("Tensor.__*shift__(*np.float32(1.5))",), "only Paddle raises", "a NumPy number is what the tensor's dtype holds of it, in shifts as well"),
    Deliberate(("Tensor.__*(bool*np.int64(2))", "Tensor.__*(bool*np.float32(1.5))"), "dtype|values|only Paddle raises", "a truth value and a number make a number"),
    Deliberate(("*sinc*(int*", "*nan_to_num*(*float16*", "*nanmean*(int*", "*atan2*int*", "*hypot*int*", "*logaddexp*int*", "*where*3)", "*where*, 2, 2.0)", "*where_(*, 1.5)", "*where_(*, -10000.0)", "*where*(bool*, float32[], int64*", "*full_like*bool*"), "only Paddle raises",
               "integers and numbers meet floating tensors as in `x + y`, float16 is a dtype like others, and true is what is not 0"),
    Deliberate(("*isclose*", "*allclose*", "*put_along_axis*", "*flatten_(*[])*", "Tensor.pow_*", "*mode*[]*", "*unique*[]*", "*repeat_interleave*[], 2*", "*vander*True)", "*to_tensor(range*", "paddle.normal(0.0, 2.0)", "*.roll(*int64 [1]*", "*repeat_interleave(*[], int32*", "*linalg.norm(*[], *", "*__setitem__(*int64 [], 2)", "*fftshift*", "*ormqr*", "*cumprod(*[], -1*", "*norm(*[0,3]*", "*quantile(*[]*", "*__setitem__(*, [], *", "*__setitem__(*int64 [], *", "*__setitem__(*bool False, *", "*__setitem__(float32[], None, *", "*.where(bool*", "*atan2(float32*bool*", "*logaddexp(float32*bool*", "*repeat_interleave(float32[], *"), "only Paddle raises|error class*",
               "what Paddle refuses, or fails at, has a plain meaning: shapes that broadcast, 0-D tensors, ranges, tensors for numbers"),
    # Arguments refused that Paddle takes
    Deliberate(("*.neg*(bool*", "*__neg__(bool*", "*hypot*complex*", "*copysign*(bool*", "*gcd*(*", "*lcm*(*", "*mod*complex*", "*mod__*(1+2j))", "*remainder*complex*", "*inner(*int64*", "*matmul*int*", "*matmul*bool*", "Tensor.__*'text')", "paddle.assign(None)", "*__index__(*float*", "*copysign_(complex*", "*inner(*int32*"), "only we raise|error class*|type",
               "dtypes for which the result means nothing and the documentation promises none"),
    Deliberate(("*.pow*(int*", "*__*pow__(int*", "*__*pow__(uint8*", "*__*pow__(bool*"), "only we raise", "an integer to a negative power is no integer: an error, where Paddle gives 0 or does not end"),
    Deliberate(("*amax*[0,3]*", "*amin*[0,3]*", "*arg*[0,3]*", "*median*[0,3]*", "*norm*[0,3]*", "*cond*[0,0]*", "*solve*[0,0]*"), "only we raise", "nothing has no extreme and no position"),
    Deliberate(("*transpose*", "*permute*", "*expand*, [])", "*broadcast_to*, [])", "*nanmedian*(0, -1)*", "*nanmedian*[0, -1]*", "*split(*[0,4]*", "*bincount(int64[0]*", "*norm(*[], *axis=5*", "*linalg.norm(float32[3], *axis=(0, -1)*", "*__getitem__*", "*__setitem__*"), "only we raise",
               "axes, sections and indices must fit, as documented; Paddle reads outside of the tensor or ignores them"),
    Deliberate(("*logcumsumexp(float*, dtype='int64')",), "only we raise", "logarithms are no integers; Paddle takes no notice of such a dtype"),
    # Gradients
    Deliberate(("*sinc*complex*", "*stanh*complex*", "*pow*complex*", "*prod*complex*", "*acosh*complex*", "*einsum*complex*", "Tensor.__*pow__(*2j))"), "gradient",
               "Paddle leaves out the conjugate in these complex gradients; ours agree with finite differences"),
    Deliberate(("*diagonal_scatter*", "*masked_fill*bool*", "*quantile(*", "*__setitem__(*, float32[])", "*__setitem__(*, float64[])", "*__setitem__(*, float32[1])"), "gradient",
               "factors, weights and values that are tensors get their gradient; Paddle gives none, or zeros"),
    Deliberate(("*.unfold*", "*.gather(*int64[] below*axis=1)", "*index_select*[-1]*", "*kthvalue*[]*", "*.mode*[]*", "*median*nans*", "*triangular_solve*unitriangular=True)", "*cholesky_solve*", "*pinv*", "*eigvalsh*", "*.eigh*", "*group_norm(*", "*GroupNorm(*", "*normalize(*epsilon=0.5*", "*sigmoid_focal_loss(*", "*SpectralNorm(*", "*PairwiseDistance(*p=inf*", "*PoissonNLLLoss(*full=*", "*Triplet*epsilon=0.0*", "*triplet*epsilon=0.0*"), "gradient",
               "Paddle's gradients of overlapping windows, 0-D and negative indices, NaN, unit diagonals, batches of factors, norms without a weight or with a large epsilon are not those of the function; ours agree with finite differences"),
    Deliberate(("*p=0*", "*, 0)", "*, 0.0)", "*fill_(*", "*zero_(*", "*floor_divide_*", "*vander*", "*lu_unpack*", "*lstsq*", "*rounding_mode=*", "*sparse_c*_tensor*", "*bernoulli*", "*combinations(*, 0, True)", "*eigvals(*", "*fused_layer_norm(*", "*cdist(*[0,2]*"), "stop_gradient",
               "counts, constants and steps ask for no gradient; values of sparse tensors and least squares pass theirs on"),
    Deliberate(("*diag_embed*", "*unique*[0]*"), "stop_gradient", "what is put on a diagonal keeps its gradient; of different elements, counts have none, in an empty tensor too"),
    Deliberate(("*scatter_add*", "*scatter_reduce*", "*put_along_axis*", "*baddbmm*", "*multiplex*", "*embedding(*sparse=True*", "*crop(*"), "gradient",
               "a gradient has the shape of its tensor; Paddle's has that of the index, or of the result"),
    Deliberate(("*.median(float?? [1.0, 2.0, 2.0, 2.0]*", "*.median(float?? [2.0, 2.0, 3.0]*"), "gradient", "of equal elements those in the middle have the gradient of a median; Paddle shares it among all"),
    # Values and dtypes
    Deliberate(("*(float?? [[0.0, 100.0, 30.0]]*",), "values|gradient", "logarithms of small chances are what they are; Paddle's CPU takes none to be below -64"),
    Deliberate(("*inner(float32[1], *",), "shape", "inner products of a single element have the shapes of others, as documented; Paddle multiplies"),
    Deliberate(("*conv2d(float32[1,2,4,4], float32[3,2,5,2]*",), "only we raise", "a window must fit into the padded input; Paddle gives nothing, or takes what lies outside for zeros"),
    Deliberate(("*avg_pool?d(*'SAME', exclusive=False*",), "values|gradient", "padding counts with exclusive=False, as documented, that of SAME as well"),
    Deliberate(("*max_pool?d(*'SAME', return_mask=True*",), "*", "the mask does not change the result; with it Paddle leaves out the windows that padding makes"),
    Deliberate(("*interpolate(*'area', data_format='N*WC'*", "*instance_norm(*data_format='N*C'*"), "*", "data_format says where channels are, as documented; Paddle takes them to be second"),
    Deliberate(("*gammainc*", "*diagonal_scatter(*", "*fill_diagonal_tensor(*"), "values", "Paddle reads past tensors that broadcast, and values of another dtype as if they were of the first"),
    Deliberate(("*Fractional*", "*dropout_p=0.5*", "*MultiHeadAttention(*dropout=*"), "values", "drawn anew at each call"),
    Deliberate(("Tensor.__*__(*[] nonzero, *",), "shape", "operators of 0-D tensors and numbers give 0-D tensors"),
    Deliberate(("*__truediv__(complex*bool*",), "values", "a complex number divided by 0 is infinite; Paddle gives NaN"),
    Deliberate(("signature of Tensor.astype", "signature of Tensor.tolist"), "signature", "the object itself, which Python passes, is called self"),
    Deliberate(("Tensor.__*__(*[] nonzero, (1+2j))",), "dtype", "the wider dtype, of 0-D tensors too"),
    Deliberate(("*divide*(bool*", "*truediv__(bool*"), "dtype|only Paddle raises", "a quotient of truth values is float32 as that of integers; Paddle gives bool in some forms, an error in others"),
    Deliberate(("*linalg.norm(*axis=[0, 1]*", "*linalg.norm(*axis=(0, -1)*"), "values", "the default for matrices is the Frobenius norm, as documented; Paddle takes the largest singular value"),
    Deliberate(("*vector_norm(*[]*", "*linalg.norm(*[], p=*", "*pinv(complex*"), "values", "Paddle gives the norm 0 for 0-D tensors, and for complex matrices no inverse"),
    Deliberate(("*as_strided*",), "values|only we raise|error class*", "Paddle counts `offset` in bytes and reads past the tensor"),
    Deliberate(("*.isin(*, *[]*", "*argmax*[], axis=*", "*argmin*[], axis=*"), "shape", "results have the shape of x, reduced dimensions have size 1, and of none there are none"),
    Deliberate(("*.mean(bool*", "*deg2rad*", "*rad2deg*", "*histogram(float32[0]*"), "dtype", "means and angles are float32, counts int64, whatever they are of"),
    Deliberate(("*.pow*(int* positive, 0.5)",), "dtype", "Paddle cuts the exponent off to an integer, but not in `x ** 0.5`"),
    Deliberate(("*__bool__*",), "values", "truth is x != 0; Paddle asks x > 0"),
    Deliberate(("*bfloat16*", "*uint16*"), "dtype|values", "arrays of bfloat16 hold the numbers, not their bits as uint16"),
    Deliberate(("*stanh*float64*", "*atan2(int*", "*hypot*float64*", "*logaddexp*float64*", "*divide*float64[]*", "*truediv__*float64[]*", "*cdist(float64*", "*dist(float64*", "*vector_norm(float64*", "*deg2rad(float64*", "*rad2deg(float64*", "*exp*(complex128*", "*istft(complex128*", "*polar(float64*", "*sigmoid*(complex128*", "*silu*(complex128*", "*LPPool2D(float64*", "*lp_pool2d(float64*", "*kl_div(float64*", "*KLDivLoss(float64*", "*triplet*float64*", "*multi_label_soft_margin_loss(*float64*", "*adaptive_avg_pool*(float64*"), "values|gradient",
               "Paddle computes in float32 inside; vitrify in the dtype of the result"),
    Deliberate(("Tensor.clip_(*",), "values", "without bounds nothing is clipped; Paddle fills with the smallest integer"),
    Deliberate(("*erfinv*",), "values", "NaN outside of [-1, 1], where there is no inverse; Paddle gives infinities"),
    Deliberate(("*householder_product*",), "argument", "arguments stay as they are; Paddle writes into x"),
)  # fmt: skip


def reason_for(case: str, kind: str) -> Deliberate | None:
    """Return the entry that explains a difference, if one does."""
    return next((entry for entry in DELIBERATE if entry.covers(case, kind)), None)

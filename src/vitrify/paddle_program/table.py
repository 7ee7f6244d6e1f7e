"""The operators of Paddle's saved programs: one row each, with the names, slots and attributes of both of its formats.

A row reads `name[/old name]: inputs -> outputs | attributes`. `name` and the order of inputs are those of `.json`
programs; after `=` stand the names in `.pdmodel` programs. Of inputs, `?` may be missing and `*` is a list. An input
`axis=dim:ints(AxisTensor,AxisTensorList*)` is a tensor in `.json` programs, in `.pdmodel` programs the attribute `dim`
unless one of the slots holds tensors. Of attributes, `!axis:int=-1` occurs in `.pdmodel` only, `^place:place` in
`.json` only, and `ints/longs` are the kinds in either. All these names are facts of the file formats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import InternalError
from .library_rows import LIBRARY_ROWS
from .old_rows import OLD_ROWS


@dataclass(frozen=True)
class In:
    """An input: its slots in `.pdmodel`, and the attribute that holds it there when it is constant."""

    name: str
    slots: tuple[tuple[str, bool], ...]  # (name, whether it holds a list)
    optional: bool = False
    attr: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Out:
    """An output: its slot in `.pdmodel`, and whether that holds a list."""

    name: str
    slot: str
    many: bool = False


@dataclass(frozen=True)
class Attr:
    """An attribute: its name and kind in both formats, which it occurs in, and what to write where nothing is said."""

    name: str
    old_name: str
    kind: str
    new_kind: str
    where: str = "both"  # or "old", "new"
    default: Any = None


@dataclass(frozen=True)
class Row:
    """An operator of Paddle's in both formats."""

    name: str
    old_name: str
    inputs: tuple[In, ...]
    outputs: tuple[Out, ...]
    attrs: tuple[Attr, ...] = field(default=())


_ONE_TO_ONE = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfinv exp expm1 floor "
    "isfinite/isfinite_v2 isinf/isinf_v2 isnan/isnan_v2 lgamma log log10 log1p log2 logical_not logsigmoid reciprocal "
    "relu relu6 rsqrt sigmoid sign silu sin sinh softsign sqrt square tan tanh tanh_shrink trunc swish assign"
)
_TWO_TO_ONE = (
    "atan2(X1,X2) bitwise_and bitwise_or bitwise_xor bmm dot kron fmax/elementwise_fmax fmin/elementwise_fmin "
    "logical_and logical_or logical_xor mv(X,Vec)"
)
_BROADCAST = (
    "add/elementwise_add subtract/elementwise_sub multiply/elementwise_mul divide/elementwise_div "
    "maximum/elementwise_max minimum/elementwise_min remainder/elementwise_mod floor_divide/elementwise_floordiv "
    "elementwise_pow equal not_equal less_than less_equal greater_than greater_equal"
)
_REDUCE = "!in_dtype:int=-1 !out_dtype:int=-1 !reduce_all:bool=False"
_CONV = "strides:ints paddings:ints padding_algorithm:str dilations:ints groups:int data_format:str"

# Operators of images that differ in how they read between pixels.
_RESIZED = "nearest linear bilinear trilinear bicubic"
_RESIZE = (
    "{0}_interp/{0}_interp_v2: x=X out_size=OutSize? size_tensor=SizeTensor*? scale_tensor=Scale? -> output=Out | "
    "data_format=data_layout:str out_d:int out_h:int out_w:int scale:floats/doubles interp_method:str "
    "align_corners:bool align_mode:int"
)
_ROWS = rf"""
scale: x=X scale=scale:float(ScaleTensor) -> out=Out | bias:float bias_after_scale:bool
pow: x=X -> out=Out | y=factor:float
cast: x=X -> out=Out | dtype=out_dtype:dtype !in_dtype:dtype=None
round: x=X -> out=Out | decimals:int
elu: x=X -> out=Out | alpha:float
celu: x=X -> out=Out | alpha:float
selu: x=X -> out=Out | scale:float alpha:float
gelu: x=X -> out=Out | approximate:bool
mish: x=X -> out=Out | lambda=threshold:float
leaky_relu: x=X -> out=Out | negative_slope=alpha:float/double
hardswish/hard_swish: x=X -> out=Out | !threshold:float=6.0 !scale:float=6.0 !offset:float=3.0
hardsigmoid/hard_sigmoid: x=X -> out=Out | slope:float offset:float
hardtanh/brelu: x=X -> out=Out | t_min:float t_max:float
hardshrink/hard_shrink: x=X -> out=Out | threshold:float
softshrink: x=X -> out=Out | threshold=lambda:float
thresholded_relu: x=X -> out=Out | threshold:float value:float
softplus: x=X -> out=Out | beta:float/double threshold:float/double
logit: x=X -> out=Out | eps:float/double
prelu: x=X alpha=Alpha -> out=Out | data_format:str mode:str
clip: x=X min=min:float(Min) max=max:float(Max) -> out=Out |
softmax: x=X -> out=Out | axis:int
log_softmax: x=X -> out=Out | axis:int
dropout: x=X seed=Seed? p=dropout_prob:float() -> out=Out mask=Mask | is_test:bool mode=dropout_implementation:str \
    seed_attr=seed:int=0 fix_seed:bool
sum/reduce_sum: x=X axis=dim:ints(AxisTensor,AxisTensorList*) -> out=Out | keepdim=keep_dim:bool \
    !in_dtype:int=-1 dtype=out_dtype:dtype !reduce_all:bool=False
mean/reduce_mean: x=X axis=dim:ints(AxisTensor,AxisTensorList*) -> out=Out | keepdim=keep_dim:bool {_REDUCE}
max/reduce_max: x=X axis=dim:ints(AxisTensor,AxisTensorList*) -> out=Out | keepdim=keep_dim:bool {_REDUCE}
min/reduce_min: x=X axis=dim:ints(AxisTensor,AxisTensorList*) -> out=Out | keepdim=keep_dim:bool {_REDUCE}
prod/reduce_prod: x=X axis=dim:ints(AxisTensor,AxisTensorList*) -> out=Out | keepdim=keep_dim:bool \
    !in_dtype:int=-1 !out_dtype:int=-1 reduce_all:bool
all/reduce_all: x=X -> out=Out | axis=dim:ints/longs keepdim=keep_dim:bool {_REDUCE}
any/reduce_any: x=X -> out=Out | axis=dim:ints/longs keepdim=keep_dim:bool {_REDUCE}
amax/reduce_amax: x=X -> out=Out | axis=dim:ints/longs keepdim=keep_dim:bool {_REDUCE}
amin/reduce_amin: x=X -> out=Out | axis=dim:ints/longs keepdim=keep_dim:bool {_REDUCE}
logsumexp: x=X -> out=Out | axis:ints keepdim:bool reduce_all:bool
frobenius_norm: x=X axis=dim:ints() -> out=Out | keepdim=keep_dim:bool {_REDUCE}
p_norm: x=X -> out=Out | porder:float axis:int epsilon:float keepdim:bool asvector:bool
argmax/arg_max: x=X axis=axis:long(AxisTensor) -> out=Out | keepdims:bool flatten:bool dtype:dtype
argmin/arg_min: x=X axis=axis:long(AxisTensor) -> out=Out | keepdims:bool flatten:bool dtype:dtype
argsort: x=X -> out=Out indices=Indices | axis:int descending:bool stable:bool
topk/top_k_v2: x=X k=k:int(K) -> out=Out indices=Indices | axis:int largest:bool sorted:bool
cumsum: x=X axis=axis:int(AxisTensor) -> out=Out | flatten:bool exclusive:bool reverse:bool
cumprod: x=X -> out=Out | dim:int exclusive:bool reverse:bool
matmul/matmul_v2: x=X y=Y -> out=Out | transpose_x=trans_x:bool transpose_y=trans_y:bool
addmm: input=Input x=X y=Y -> out=Out | beta=Beta:float alpha=Alpha:float
einsum: x=Operands* -> out=Out | equation:str
lerp: x=X y=Y weight=Weight -> out=Out |
reshape/reshape2: x=X shape=shape:ints(Shape,ShapeTensor*) -> out=Out |
transpose/transpose2: x=X -> out=Out | perm=axis:ints
flatten/flatten_contiguous_range: x=X -> out=Out | start_axis:int stop_axis:int
squeeze/squeeze2: x=X axis=axes:ints(AxesTensor,AxesTensorList*) -> out=Out |
unsqueeze/unsqueeze2: x=X axis=axes:ints(AxesTensor,AxesTensorList*) -> out=Out |
concat: x=X* axis=axis:int(AxisTensor) -> out=Out |
stack: x=X* -> out=Y | axis:int
split: x=X sections=sections:ints(SectionsTensorList*) axis=axis:int(AxisTensor) -> out=Out* | !num:int=0
split_with_num/split: x=X axis=axis:int(AxisTensor) -> out=Out* | num:int
unstack: x=X -> y=Y* | axis:int num:int
unbind: input=X -> out=Out* | axis:int
meshgrid: inputs=X* -> out=Out* |
expand/expand_v2: x=X shape=shape:ints(Shape,expand_shapes_tensor*) -> out=Out |
tile: x=X repeat_times=repeat_times:ints(RepeatTimes,repeat_times_tensor*) -> out=Out |
flip: x=X -> out=Out | axis:ints
roll: x=X shifts=shifts:longs(ShiftsTensor) -> out=Out | axis:longs
gather: x=X index=Index axis=axis:int(Axis) -> out=Out |
gather_nd: x=X index=Index -> out=Out |
index_select: x=X index=Index -> out=Out | axis=dim:int
take_along_axis: arr=Input indices=Index -> out=Result | axis=Axis:int
put_along_axis: arr=Input indices=Index values=Value -> out=Result | axis=Axis:int reduce=Reduce:str \
    include_self=Include_self:bool
scatter: x=X index=Ids updates=Updates -> out=Out | overwrite:bool
where: condition=Condition x=X y=Y -> out=Out |
nonzero/where_index: condition=Condition -> out=Out |
masked_select: x=X mask=Mask -> out=Y |
masked_fill: x=x mask=mask value=value -> out=out |
slice: input=Input starts=starts:ints(StartsTensor,StartsTensorList*) ends=ends:ints(EndsTensor,EndsTensorList*) \
    -> out=Out | axes:ints/longs infer_flags:ints/longs decrease_axis:ints/longs
strided_slice: x=Input starts=starts:ints(StartsTensor,StartsTensorList*) ends=ends:ints(EndsTensor,EndsTensorList*) \
    strides=strides:ints(StridesTensor,StridesTensorList*) -> out=Out | axes:ints !infer_flags:ints=[] \
    !decrease_axis:ints=[]
set_value_/set_value: x=Input starts=starts:longs(StartsTensorList*) ends=ends:longs(EndsTensorList*) \
    steps=steps:longs(StepsTensorList*) -> out=Out | axes:longs decrease_axes:longs none_axes:longs shape:longs \
    values:scalars !dtype:dtype=None
set_value_with_tensor_/set_value: x=Input values=ValueTensor starts=starts:longs(StartsTensorList*) \
    ends=ends:longs(EndsTensorList*) steps=steps:longs(StepsTensorList*) -> out=Out | axes:longs decrease_axes:longs \
    none_axes:longs !dtype:dtype=None !shape:longs=[] !values:scalars=[]
add_n/sum: x=X* -> out=Out |
mean_all/mean: x=X -> out=Out |
increment: x=X -> out=Out | value=step:float
squared_l2_norm: x=X -> out=Out |
clip_by_norm: x=X -> out=Out | max_norm:float
huber_loss: x=X label=Y -> out=Out residual=Residual | delta:float
sgd_/sgd: param=Param rate=LearningRate grad=Grad master=MasterParam? -> param_out=ParamOut \
    master_out=MasterParamOut | multi_precision:bool
momentum_/momentum: param=Param grad=Grad velocity=Velocity rate=LearningRate master=MasterParam? -> \
    param_out=ParamOut velocity_out=VelocityOut master_out=MasterParamOut | mu:float use_nesterov:bool \
    regularization_method:str regularization_coeff:float multi_precision:bool rescale_grad:float
full/fill_constant: -> out=Out | shape:longs/intarray value:float/double dtype:dtype !str_value:str= \
    !force_cpu:bool=False \
    !place_type:int=-1 ^place:place
full_int_array/assign_value: -> out=Out | value=values:scalars/longs dtype:dtype !shape:ints=[] ^place:place
full_with_tensor/fill_constant: value=value:float(ValueTensor) shape=shape:longs(ShapeTensor,ShapeTensorList*) -> \
    out=Out | \
    dtype:dtype !str_value:str= !force_cpu:bool=False !place_type:int=-1
full_like/fill_any_like: x=X value=value:float() -> out=Out | dtype:dtype ^place:place
assign_value_/assign_value: -> out=Out | shape:ints dtype:dtype values:scalars ^place:place
assign_value: -> out=Out | shape:ints dtype:dtype values:scalars ^place:place
arange/range: start=Start end=End step=Step -> out=Out | ^dtype:dtype ^place:place
linspace: start=Start stop=Stop number=Num -> out=Out | dtype:dtype ^place:place
eye: num_rows=num_rows:long() num_columns=num_columns:long() -> out=Out | dtype:dtype ^place:place
tril/tril_triu: x=X -> out=Out | diagonal:int !lower:bool=True
triu/tril_triu: x=X -> out=Out | diagonal:int !lower:bool=False
one_hot/one_hot_v2: x=X num_classes=depth:int(depth_tensor) -> out=Out | !dtype:int=5 !allow_out_of_range:bool=False
embedding/lookup_table_v2: x=Ids weight=W -> out=Out | padding_idx:long ^sparse:bool !is_sparse:bool=False
shape64/shape: input=Input -> out=Out |
shape: input=Input -> out=Out |
numel/size: x=Input -> size=Out |
conv2d: input=Input filter=Filter -> out=Output | {_CONV}
depthwise_conv2d: input=Input filter=Filter -> out=Output | {_CONV}
conv3d: input=Input filter=Filter -> out=Output | {_CONV}
conv2d_transpose: x=Input filter=Filter output_size=output_size:ints(OutputSizeTensor) -> out=Output | \
    output_padding:ints {_CONV}
depthwise_conv2d_transpose: x=Input filter=Filter output_size=output_size:ints(OutputSizeTensor) bias=Bias? -> \
    out=Output | \
    output_padding:ints {_CONV}
pool2d: x=X kernel_size=ksize:ints() -> out=Out | strides:ints/longs paddings:ints/longs ceil_mode:bool exclusive:bool \
    data_format:str pooling_type:str global_pooling:bool adaptive:bool padding_algorithm:str
pool3d: x=X -> out=Out | kernel_size=ksize:ints strides:ints/longs paddings:ints/longs ceil_mode:bool exclusive:bool \
    data_format:str pooling_type:str global_pooling:bool adaptive:bool padding_algorithm:str
max_pool2d_with_index: x=X -> out=Out mask=Mask | kernel_size=ksize:ints strides:ints paddings:ints \
    global_pooling:bool \
    adaptive:bool ceil_mode:bool
batch_norm_/batch_norm: x=X mean=Mean variance=Variance scale=Scale? bias=Bias? -> out=Y mean_out=MeanOut \
    variance_out=VarianceOut saved_mean=SavedMean saved_variance=SavedVariance reserve_space=ReserveSpace | \
    is_test:bool \
    momentum:float epsilon:float data_format=data_layout:str use_global_stats:bool trainable_statistics:bool
batch_norm: x=X mean=Mean variance=Variance scale=Scale? bias=Bias? -> out=Y mean_out=MeanOut variance_out=VarianceOut \
    saved_mean=SavedMean saved_variance=SavedVariance reserve_space=ReserveSpace | is_test:bool momentum:float \
    epsilon:float data_format=data_layout:str use_global_stats:bool trainable_statistics:bool
layer_norm: x=X scale=Scale? bias=Bias? -> out=Y mean=Mean variance=Variance | epsilon:float begin_norm_axis:int
group_norm: x=X scale=Scale? bias=Bias? -> y=Y mean=Mean variance=Variance | epsilon:float/double groups:int \
    data_format=data_layout:str
instance_norm: x=X scale=Scale? bias=Bias? -> y=Y saved_mean=SavedMean saved_variance=SavedVariance | epsilon:float
pad: x=X pad_value=pad_value:float() -> out=Out | paddings:ints
pad3d: x=X paddings=paddings:ints(Paddings) -> out=Out | mode:str pad_value=value:float/double data_format:str
pixel_shuffle: x=X -> out=Out | upscale_factor:int data_format:str
unfold: x=X -> out=Y | kernel_sizes:ints strides:ints paddings:ints dilations:ints
index_add: x=X index=Index add_value=AddValue -> out=Out | axis:int
scatter_nd_add: x=X index=Index updates=Updates -> out=Out |
index_put: x=x indices=indices* value=value -> out=out | accumulate:bool
bincount: x=X weights=Weights? minlength=minlength:int() -> out=Out |
broadcast_tensors: input=X* -> out=Out* |
nms: x=Boxes -> out=KeepBoxesIdxs | threshold=iou_threshold:float
multiclass_nms3: bboxes=BBoxes scores=Scores rois_num=RoisNum? -> out=Out index=Index nms_rois_num=NmsRoisNum | \
    score_threshold:float nms_top_k:int keep_top_k:int nms_threshold:float normalized:bool nms_eta:float \
    background_label:int
matrix_nms: bboxes=BBoxes scores=Scores -> out=Out index=Index roisnum=RoisNum | score_threshold:float nms_top_k:int \
    keep_top_k:int post_threshold:float use_gaussian:bool gaussian_sigma:float background_label:int normalized:bool
prior_box: input=Input image=Image -> out=Boxes var=Variances | min_sizes:floats max_sizes:floats \
    aspect_ratios:floats variances:floats flip:bool clip:bool step_w:float step_h:float offset:float \
    min_max_aspect_ratios_order:bool
box_coder: prior_box=PriorBox prior_box_var=PriorBoxVar? target_box=TargetBox -> output_box=OutputBox | \
    code_type:str box_normalized:bool axis:int variance:floats
distribute_fpn_proposals: fpn_rois=FpnRois rois_num=RoisNum? -> multi_fpn_rois=MultiFpnRois* \
    multi_level_rois_num=MultiLevelRoIsNum* restore_index=RestoreIndex | min_level:int max_level:int refer_level:int \
    refer_scale:int pixel_offset:bool
generate_proposals/generate_proposals_v2: scores=Scores bbox_deltas=BboxDeltas im_shape=ImShape anchors=Anchors \
    variances=Variances -> rpn_rois=RpnRois rpn_roi_probs=RpnRoiProbs rpn_rois_num=RpnRoisNum | \
    pre_nms_top_n=pre_nms_topN:int post_nms_top_n=post_nms_topN:int nms_thresh:float min_size:float eta:float \
    pixel_offset:bool
roi_align: x=X boxes=ROIs boxes_num=RoisNum? -> out=Out | pooled_height:int pooled_width:int spatial_scale:float \
    sampling_ratio:int aligned:bool
psroi_pool: x=X boxes=ROIs boxes_num=RoisNum? -> out=Out | pooled_height:int pooled_width:int output_channels:int \
    spatial_scale:float
roi_pool: x=X boxes=ROIs boxes_num=RoisNum? -> out=Out arg_max=Argmax | pooled_height:int pooled_width:int \
    spatial_scale:float
yolo_box: x=X img_size=ImgSize -> boxes=Boxes scores=Scores | anchors:ints class_num:int conf_thresh:float \
    downsample_ratio:int clip_bbox:bool scale_x_y:float iou_aware:bool iou_aware_factor:float
inverse: x=Input -> out=Output |
det/determinant: x=Input -> out=Out |
cholesky: x=X -> out=Out | upper:bool
svd: x=X -> u=U s=S vh=VH | full_matrices:bool
qr: x=X -> q=Q r=R | mode:str
eigh: x=X -> out_w=Eigenvalues out_v=Eigenvectors | UPLO:str
solve: x=X y=Y -> out=Out |
triangular_solve: x=X y=Y -> out=Out | upper:bool transpose:bool unitriangular:bool
kthvalue: x=X -> out=Out indices=Indices | k:int/long axis:int keepdim:bool
mode: x=X -> out=Out indices=Indices | axis:int keepdim:bool
searchsorted: sorted_sequence=SortedSequence values=Values -> out=Out | out_int32:bool right:bool
diag_embed: input=Input -> out=Out | offset:int dim1:int dim2:int
diagonal: x=Input -> out=Out | offset:int axis1:int axis2:int
logcumsumexp: x=X -> out=Out | axis:int flatten:bool exclusive:bool reverse:bool
cross_entropy_with_softmax/softmax_with_cross_entropy: logits=Logits label=Label -> softmax=Softmax loss=Loss | \
    soft_label:bool use_softmax:bool numeric_stable_mode:bool ignore_index:int axis:int
"""

_NUMBER = re.compile(r"(\w+)=(\w+):(\w+)\(([^)]*)\)")
_SLOT = re.compile(r"(\w+)=(\w+)(\*?)(\??)")
_ATTR = re.compile(r"([!^]?)(\w+)(?:=(\w+))?:(\w+)(?:/(\w+))?(?:=(.*))?")
_VALUES: Mapping[str, Any] = {"True": True, "False": False, "None": None, "[]": []}


def _input(text: str) -> In:
    number = _NUMBER.fullmatch(text)
    if number:
        slots = tuple((s.removesuffix("*"), s.endswith("*")) for s in number[4].split(",") if s)
        return In(number[1], slots, attr=number[2], kind=number[3])
    name, slot, many, optional = _match(_SLOT, text)
    return In(name, ((slot, bool(many)),), bool(optional))


def _output(text: str) -> Out:
    name, slot, many, _ = _match(_SLOT, text)
    return Out(name, slot, bool(many))


def _attr(text: str) -> Attr:
    mark, name, old, kind, new, default = _match(_ATTR, text)
    value = _VALUES.get(default, default)
    if isinstance(value, str) and kind != "str":
        value = float(value) if kind == "float" else int(value)
    return Attr(name, old or name, kind, new or kind, {"": "both", "!": "old", "^": "new"}[mark], value)


def _match(pattern: re.Pattern[str], text: str) -> tuple[Any, ...]:
    found = pattern.fullmatch(text)
    if found is None:
        raise InternalError(f"table of Paddle's operators: {text!r} is nothing")
    return found.groups()


def _row(text: str) -> Row:
    names, _, rest = text.partition(":")
    signature, _, attrs = rest.partition("|")
    inputs, _, outputs = signature.partition("->")
    name, _, old = names.strip().partition("/")
    return Row(
        name,
        old or name,
        tuple(map(_input, inputs.split())),
        tuple(map(_output, outputs.split())),
        tuple(map(_attr, attrs.split())),
    )


def _texts() -> list[str]:
    rows = [f"{name}: x=X -> out=Out |" for name in _ONE_TO_ONE.split()]
    for text in _TWO_TO_ONE.split():
        name, _, slots = text.removesuffix(")").partition("(")
        x, y = slots.split(",") if slots else ("X", "Y")
        rows.append(f"{name}: x={x} y={y} -> out=Out |")
    rows += [f"{name}: x=X y=Y -> out=Out | !axis:int=-1" for name in _BROADCAST.split()]
    rows += [_RESIZE.format(name) for name in _RESIZED.split()]
    return rows + [line for line in (_ROWS + LIBRARY_ROWS + OLD_ROWS).replace("\\\n", " ").splitlines() if line.strip()]


ROWS: Mapping[str, Row] = {row.name: row for row in map(_row, _texts())}
"""The operators by their names in `.json` programs."""


def old_rows() -> dict[str, list[Row]]:
    """The operators by their names in `.pdmodel` programs; some of them are several in `.json` programs."""
    found: dict[str, list[Row]] = {}
    for row in ROWS.values():
        found.setdefault(row.old_name, []).append(row)
    return found

"""Rows of the table for operators of PaddlePaddle 2 that 3 has no more; their names here are those of nobody else."""

_OLD_RESIZE = (
    "old_{0}_interp/{0}_interp: x=X out_size=OutSize? -> output=Out | !data_layout:str !out_d:int !out_h:int "
    "!out_w:int !scale:float !interp_method:str !align_corners:bool !align_mode:int"
)
OLD_ROWS = r"""
mul: x=X y=Y -> out=Out | !x_num_col_dims:int=1 !y_num_col_dims:int=1
old_matmul/matmul: x=X y=Y -> out=Out | !transpose_x=transpose_X:bool !transpose_y=transpose_Y:bool !alpha:float
fc: x=Input w=W bias=Bias? -> out=Out | !in_num_col_dims:int !activation_type:str !padding_weights:bool
minus: x=X y=Y -> out=Out |
fused_elemwise_activation: x=X y=Y -> out=Out between=IntermediateOut | !functor_list:strings !axis:int !scale:float \
    !save_intermediate_out:bool
old_reshape/reshape: x=X shape=shape:ints(Shape,ShapeTensor*) -> out=Out |
old_transpose/transpose: x=X -> out=Out | !axis:ints !data_format:str
old_squeeze/squeeze: x=X -> out=Out | !axes:ints
old_unsqueeze/unsqueeze: x=X axes=axes:ints(AxesTensor,AxesTensorList*) -> out=Out |
old_flatten/flatten: x=X -> out=Out | !axis:int
flatten2: x=X -> out=Out xshape=XShape | !axis:int
old_expand/expand: x=X times=expand_times:ints(ExpandTimes,expand_times_tensor*) -> out=Out |
expand_as_v2: x=X y=Y? -> out=Out | !target_shape:ints
old_crop/crop: x=X y=Y? offsets=offsets:ints(Offsets) -> out=Out | !shape:ints
reverse: x=X -> out=Out | !axis:ints
shuffle_channel: x=X -> out=Out | !group:int
lookup_table: w=W ids=Ids -> out=Out | !padding_idx:long !is_sparse:bool !is_distributed:bool \
    !table_class:str !grad_inplace:bool
old_one_hot/one_hot: x=X depth=depth:int(depth_tensor) -> out=Out | !dtype:int !allow_out_of_range:bool
shard_index: x=X -> out=Out | !index_num:int !nshards:int !shard_id:int !ignore_value:int
partial_concat: x=X* -> out=Out | !start_index:int !length:int
partial_sum: x=X* -> out=Out | !start_index:int !length:int
soft_relu: x=X -> out=Out | !threshold:float
l2_normalize/norm: x=X -> out=Out norm=Norm | !axis:int !epsilon:float
l1_norm: x=X -> out=Out |
old_isfinite/isfinite: x=X -> out=Out |
old_isinf/isinf: x=X -> out=Out |
old_isnan/isnan: x=X -> out=Out |
top_k: x=X k=k:int(K) -> out=Out indices=Indices |
unique_with_counts: x=X -> out=Out index=Index count=Count | !dtype:int
fill_zeros_like: x=X -> out=Out |
fill_constant_batch_size_like: x=Input -> out=Out | !shape:ints !value:float !str_value:str !dtype:dtype \
    !input_dim_idx:int !output_dim_idx:int !force_cpu:bool
fill_any: x=X -> out=Out | !value_float:float !value_int:int
row_conv: x=X filter=Filter -> out=Out |
spp: x=X -> out=Out | !pyramid_height:int !pooling_type:str
data_norm: x=X size=BatchSize sum=BatchSum squares=BatchSquareSum scale_w=scale_w? bias=bias? -> y=Y means=Means \
    scales=Scales | !epsilon:float !data_layout:str !slot_dim:int !enable_scale_and_shift:bool !sync_stats:bool \
    !summary_decay_rate:float
lrn: x=X -> out=Out mid=MidOut | !n:int !k:float !alpha:float !beta:float !data_format:str
affine_channel: x=X scale=Scale bias=Bias -> out=Out | !data_layout:str
dropout_nd: x=X seed=Seed? -> out=Out mask=Mask | !dropout_prob:float !is_test:bool !dropout_implementation:str \
    !fix_seed:bool !seed:int !axis:ints
old_cross_entropy/cross_entropy: x=X label=Label -> y=Y | !soft_label:bool !ignore_index:int
cross_entropy2: x=X label=Label -> y=Y xshape=XShape match=MatchX | !ignore_index:int
hinge_loss: logits=Logits labels=Labels -> loss=Loss |
modified_huber_loss: x=X y=Y -> between=IntermediateVal out=Out |
rank_loss: label=Label left=Left right=Right -> out=Out |
bpr_loss: x=X label=Label -> y=Y |
teacher_student_sigmoid_loss: x=X label=Label -> y=Y | !soft_max_up_bound:float !soft_max_lower_bound:float
auc: predict=Predict label=Label yes=StatPos no=StatNeg weight=InsTagWeight? -> area=AUC yes_out=StatPosOut \
    no_out=StatNegOut | !curve:str !num_thresholds:int !slide_steps:int
anchor_generator: x=Input -> anchors=Anchors variances=Variances | !anchor_sizes:floats !aspect_ratios:floats \
    !variances:floats !stride:floats !offset:float
iou_similarity: x=X y=Y -> out=Out | !box_normalized:bool
polygon_box_transform: x=Input -> out=Output |
fsp: x=X y=Y -> out=Out |
add_position_encoding: x=X -> out=Out | !alpha:float !beta:float
cvm: x=X cvm=CVM -> y=Y | !use_cvm:bool
gru_unit: x=Input before=HiddenPrev weight=Weight bias=Bias? -> gate=Gate reset=ResetHiddenPrev hidden=Hidden | \
    !activation:int !gate_activation:int !origin_mode:bool
fake_quantize_abs_max: x=X -> out=Out scale=OutScale | !bit_length:int !round_type:int
fake_quantize_dequantize_abs_max: x=X -> out=Out scale=OutScale | !bit_length:int !round_type:int
fake_channel_wise_quantize_abs_max: x=X -> out=Out scale=OutScale | !bit_length:int !round_type:int !quant_axis:int
fake_channel_wise_quantize_dequantize_abs_max: x=X -> out=Out scale=OutScale | !bit_length:int !round_type:int \
    !quant_axis:int
fake_quantize_dequantize_moving_average_abs_max: x=X scale=InScale accum=InAccum? state=InState? -> out=Out \
    scale_out=OutScale state_out=OutState accum_out=OutAccum | !bit_length:int !round_type:int !moving_rate:float
moving_average_abs_max_scale: x=X accum=InAccum? state=InState? -> out=Out scale=OutScale state_out=OutState \
    accum_out=OutAccum | !moving_rate:float
fake_dequantize_max_abs: x=X scale=Scale -> out=Out | !max_range:float
fake_channel_wise_dequantize_max_abs: x=X scales=Scales* -> out=Out | !quant_bits:ints !quant_axis:int \
    !x_num_col_dims:int
quantize_linear: x=X scale=Scale zero=ZeroPoint? accum=InAccum? state=InState? -> y=Y scale_out=OutScale \
    accum_out=OutAccum state_out=OutState | !quant_axis:int !bit_length:int !round_type:int !only_observer:bool \
    !qmin:int !qmax:int !moving_rate:float
dequantize_linear: x=X scale=Scale zero=ZeroPoint? accum=InAccum? state=InState? -> y=Y scale_out=OutScale \
    accum_out=OutAccum state_out=OutState | !quant_axis:int !bit_length:int !round_type:int !only_observer:bool \
    !qmin:int !qmax:int !moving_rate:float
""" + "\n".join(_OLD_RESIZE.format(kind) for kind in ("nearest", "linear", "bilinear", "trilinear", "bicubic"))

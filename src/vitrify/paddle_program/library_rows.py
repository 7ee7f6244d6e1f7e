"""Rows of the table for operators that are algorithms of their own: losses, recurrences, special functions, graphs."""

LIBRARY_ROWS = r"""
adam_/adam: param=Param grad=Grad rate=LearningRate moment1=Moment1 moment2=Moment2 largest=Moment2Max? pow1=Beta1Pow \
    pow2=Beta2Pow master=MasterParam? skip=SkipUpdate? -> param_out=ParamOut moment1_out=Moment1Out \
    moment2_out=Moment2Out largest_out=Moment2MaxOut pow1_out=Beta1PowOut pow2_out=Beta2PowOut \
    master_out=MasterParamOut | beta1:float beta2:float epsilon:float amsgrad:bool !lazy_mode:bool=False \
    !multi_precision:bool=False !min_row_size_to_use_multithread:long=0 !use_global_beta_pow:bool=False
adamw_/adamw: param=Param grad=Grad rate=LearningRate moment1=Moment1 moment2=Moment2 largest=Moment2Max? \
    pow1=Beta1Pow pow2=Beta2Pow master=MasterParam? skip=SkipUpdate? -> param_out=ParamOut moment1_out=Moment1Out \
    moment2_out=Moment2Out largest_out=Moment2MaxOut pow1_out=Beta1PowOut pow2_out=Beta2PowOut \
    master_out=MasterParamOut | beta1:float beta2:float epsilon:float amsgrad:bool lr_ratio:float coeff:float \
    with_decay:bool !lazy_mode:bool=False \
    !multi_precision:bool=False !min_row_size_to_use_multithread:long=0 !use_global_beta_pow:bool=False
adamax_/adamax: param=Param grad=Grad rate=LearningRate moment=Moment largest=InfNorm pow1=Beta1Pow \
    master=MasterParam? -> param_out=ParamOut moment_out=MomentOut largest_out=InfNormOut master_out=MasterParamOut | \
    beta1:float beta2:float epsilon:float !multi_precision:bool=False
adagrad_/adagrad: param=Param grad=Grad moment=Moment rate=LearningRate master=MasterParam? -> param_out=ParamOut \
    moment_out=MomentOut master_out=MasterParamOut | epsilon:float !multi_precision:bool=False
adadelta_/adadelta: param=Param grad=Grad squares=AvgSquaredGrad updates=AvgSquaredUpdate rate=LearningRate \
    master=MasterParam? -> param_out=ParamOut squares_out=AvgSquaredGradOut updates_out=AvgSquaredUpdateOut \
    master_out=MasterParamOut | rho:float epsilon:float !multi_precision:bool=False
rmsprop_/rmsprop: param=Param mean_square=MeanSquare grad=Grad moment=Moment rate=LearningRate mean_grad=MeanGrad? \
    master=MasterParam? -> param_out=ParamOut moment_out=MomentOut mean_square_out=MeanSquareOut \
    mean_grad_out=MeanGradOut master_out=MasterParamOut | epsilon:float decay:float momentum:float centered:bool \
    !multi_precision:bool=False
lamb_/lamb: param=Param grad=Grad rate=LearningRate moment1=Moment1 moment2=Moment2 pow1=Beta1Pow pow2=Beta2Pow \
    master=MasterParam? skip=SkipUpdate? -> param_out=ParamOut moment1_out=Moment1Out moment2_out=Moment2Out \
    pow1_out=Beta1PowOut pow2_out=Beta2PowOut master_out=MasterParamOut | weight_decay:float beta1:float beta2:float \
    epsilon:float always_adapt:bool !multi_precision:bool=False
uniform/uniform_random: shape=shape:longs(ShapeTensor,ShapeTensorList*) min=min:float() max=max:float() -> out=Out | \
    dtype:dtype seed:int ^place:place !diag_num:int=0 !diag_step:int=0 !diag_val:float=1.0
gaussian/gaussian_random: shape=shape:longs(ShapeTensor,ShapeTensorList*) -> out=Out | mean:float std:float seed:int \
    dtype:dtype ^place:place
randint: shape=shape:longs(ShapeTensor,ShapeTensorList*) -> out=Out | low:int high:int !seed:int=0 dtype:dtype \
    ^place:place
randperm: -> out=Out | n:int dtype:dtype ^place:place
multinomial: x=X num_samples=num_samples:int() -> out=Out | replacement:bool
poisson: x=X -> out=Out |
standard_gamma: x=x -> out=out |
binomial: count=count prob=prob -> out=out |
dirichlet: alpha=Alpha -> out=Out |
exponential_/exponential: x=X -> out=Out | lam=lambda:float
accuracy: x=Out indices=Indices label=Label -> accuracy=Accuracy correct=Correct total=Total |
add_n/sum: inputs=X* -> out=Out |
affine_grid: input=Theta output_shape=output_shape:ints(OutputShape) -> output=Output | align_corners:bool
allclose: x=Input y=Other rtol=rtol:str(Rtol) atol=atol:str(Atol) -> out=Out | equal_nan:bool
angle: x=X -> out=Out |
assert: cond=Cond data=Data* -> | summarize:long
eig: x=X -> out_w=Eigenvalues out_v=Eigenvectors |
fill_diagonal: x=X -> out=Out | value:float offset:int wrap:bool
lu_unpack: x=X pivots=Pivots -> pmat=Pmat l=L u=U | unpack_ludata:bool unpack_pivots:bool
print: in=In -> out=Out | first_n:int message:str summarize:int print_tensor_name:bool print_tensor_type:bool \
    print_tensor_shape:bool print_tensor_layout:bool print_tensor_lod:bool print_phase:str=FORWARD is_forward:bool=True
as_complex: x=X -> out=Out |
as_real: x=X -> out=Out |
bernoulli: x=X -> out=Out |
bce_loss: input=X label=Label -> out=Out |
bilinear/bilinear_tensor_product: x=X y=Y weight=Weight bias=Bias? -> out=Out |
bitwise_left_shift: x=x y=y -> out=out | is_arithmetic:bool
bitwise_right_shift: x=x y=y -> out=out | is_arithmetic:bool
channel_shuffle: x=X -> out=Out | groups:int data_format:str
cholesky_solve: x=X y=Y -> out=Out | upper:bool
complex: real=X imag=Y -> out=Out |
conj: x=X -> out=Out |
conv3d_transpose: x=Input filter=Filter -> out=Output | strides:ints paddings:ints output_padding:ints \
    output_size:ints padding_algorithm:str groups:int dilations:ints data_format:str
copysign: x=x y=y -> out=out |
crop/crop_tensor: x=X shape=shape:ints(Shape,ShapeTensor*) offsets=offsets:ints(Offsets,OffsetsTensor*) -> out=Out |
cross: x=X y=Y -> out=Out | axis=dim:int
cummax: x=x -> out=out indices=indices | axis:int dtype:dtype
cummin: x=x -> out=out indices=indices | axis:int dtype:dtype
deformable_conv: x=Input offset=Offset filter=Filter mask=Mask? -> out=Output | strides:ints paddings:ints \
    dilations:ints deformable_groups:int groups:int im2col_step:int
deformable_conv_v1: x=Input offset=Offset filter=Filter -> output=Output | strides:ints paddings:ints dilations:ints \
    deformable_groups:int groups:int im2col_step:int
diag/diag_v2: x=X -> out=Out | offset:int padding_value:float
dist: x=X y=Y -> out=Out | p:float
eigvalsh: x=X -> eigenvalues=Eigenvalues eigenvectors=Eigenvectors | uplo=UPLO:str is_test:bool
empty: shape=shape:longs(ShapeTensor,ShapeTensorList*) -> out=Out | dtype:dtype ^place:place
equal_all: x=X y=Y -> out=Out | !axis:int=-1
fft_c2c: x=X -> out=Out | axes:longs normalization:str forward:bool
fft_c2r: x=X -> out=Out | axes:longs normalization:str forward:bool last_dim_size:long
fft_r2c: x=X -> out=Out | axes:longs normalization:str forward:bool onesided:bool
fill_diagonal_tensor: x=X y=Y -> out=Out | offset:long dim1:int dim2:int
fold: x=X -> out=Y | output_sizes:ints kernel_sizes:ints strides:ints paddings:ints dilations:ints
fractional_max_pool2d: x=x -> out=out mask=mask | output_size:ints kernel_size:ints random_u:float return_mask:bool
fractional_max_pool3d: x=x -> out=out mask=mask | output_size:ints kernel_size:ints random_u:float return_mask:bool
frame: x=X -> out=Out | frame_length:int hop_length:int axis:int
fused_bias_residual_layernorm: x=x bias=bias? residual=residual? norm_weight=norm_weight? norm_bias=norm_bias? -> \
    out=out residual_out=residual_out mean=mean variance=variance | epsilon:float residual_alpha:float \
    begin_norm_axis:int quant_scale:float quant_round_type:int quant_max_bound:float quant_min_bound:float
fused_rms_norm_quant: x=x bias=bias? residual=residual? norm_weight=norm_weight norm_bias=norm_bias? -> \
    out=out residual_out=residual_out inv_var=inv_var | epsilon:float begin_norm_axis:int quant_scale:float \
    quant_round_type:int quant_max_bound:float quant_min_bound:float
gammaincc: x=x y=y -> out=out |
gammaln: x=x -> out=out |
gather_tree: ids=Ids parents=Parents -> out=Out |
grid_sample/grid_sampler: x=X grid=Grid -> out=Output | mode:str padding_mode:str align_corners:bool
gumbel_softmax: x=X -> out=Out | temperature:float hard:bool axis:int
heaviside/elementwise_heaviside: x=X y=Y -> out=Out | !axis:int=-1
histogram: input=X weight=Weight? -> out=Out | bins:long min:float max:float density:bool
hsigmoid_loss/hierarchical_sigmoid: x=X label=Label w=W bias=Bias? path=PathTable? code=PathCode? -> out=Out \
    pre_out=PreOut w_out=W_Out | num_classes:int is_sparse:bool
huber_loss: input=X label=Y -> out=Out residual=Residual | delta:float
i0: x=x -> out=out |
i0e: x=x -> out=out |
i1: x=x -> out=out |
i1e: x=x -> out=out |
imag: x=X -> out=Out |
increment: x=X -> out=Out | value=step:float
index_sample: x=X index=Index -> out=Out |
is_empty: x=X -> out=Out |
isclose: x=Input y=Other rtol=rtol:str(Rtol) atol=atol:str(Atol) -> out=Out | equal_nan:bool
kldiv_loss: x=X label=Target -> out=Loss | reduction:str log_target:bool
label_smooth: label=X prior_dist=PriorDist? -> out=Out | epsilon:float
log_loss: input=Predicted label=Labels -> out=Loss | epsilon:float
logspace: start=Start stop=Stop num=Num base=Base -> out=Out | dtype:dtype ^place:place
lp_pool2d: x=x -> out=out | kernel_size:ints strides:ints/longs paddings:ints/longs ceil_mode:bool data_format:str \
    !exclusive:bool=True !pooling_type:str=lp global_pooling:bool adaptive:bool padding_algorithm:str norm_type:float
lstsq: x=X y=Y rcond=rcond:float() -> solution=Solution residuals=Residuals rank=Rank \
    singular_values=SingularValues | driver:str
lu: x=X -> out=Out pivots=Pivots infos=Infos | pivot=pivots:bool
matrix_power: x=X -> out=Out | n:int
matrix_rank: x=X -> out=Out | tol:float use_default_tol:bool hermitian:bool
max_pool3d_with_index: x=X -> out=Out mask=Mask | kernel_size=ksize:ints strides:ints paddings:ints \
    global_pooling:bool adaptive:bool ceil_mode:bool
maxout: x=X -> out=Out | groups:int axis:int
mean_all/mean: x=X -> out=Out |
median: x=X -> out=Out medians=MedianIndex | axis:longs/intarray keepdim:bool mode:str
multi_dot: x=X* -> out=Out |
multiplex: inputs=X* index=Ids -> out=Out |
nanmedian: x=X -> out=Out medians=MedianIndex | axis:longs/intarray keepdim:bool mode:str
nextafter: x=x y=y -> out=out |
nll_loss: input=X label=Label weight=Weight? -> out=Out total_weight=Total_weight | ignore_index:long reduction:str
overlap_add: x=X -> out=Out | hop_length:int axis:int
pixel_unshuffle: x=X -> out=Out | downscale_factor:int data_format:str
polygamma: x=x -> out=out | n:int
real: x=X -> out=Out |
reduce_as: x=x target=target -> out=out |
renorm: x=X -> out=Out | p:float axis:int max_norm:float
repeat_interleave: x=X -> out=Out | repeats=Repeats:int axis=dim:int output_size:long=-1
repeat_interleave_with_tensor_index/repeat_interleave: x=X repeats=RepeatsTensor -> out=Out | axis=dim:int \
    output_size:long=-1
rnn: x=Input pre_state=PreState* weight_list=WeightList* sequence_length=SequenceLength? \
    dropout_state_in=DropoutState? -> out=Out dropout_state_out=DropoutState state=State* reserve=Reserve | \
    dropout_prob:float is_bidirec:bool input_size:int hidden_size:int num_layers:int mode:str seed:int is_test:bool
rrelu: x=X -> out=Out noise=Noise | lower:float upper:float is_test:bool
segment_pool: x=X segment_ids=SegmentIds -> out=Out summed_ids=SummedIds | pooltype:str
send_u_recv/graph_send_recv: x=X src_index=Src_index dst_index=Dst_index out_size=out_size:longs(Out_size) -> out=Out \
    dst_count=Dst_count | reduce_op:str
send_ue_recv/graph_send_ue_recv: x=X y=Y src_index=Src_index dst_index=Dst_index out_size=out_size:longs(Out_size) -> \
    out=Out dst_count=Dst_count | message_op:str reduce_op:str
send_uv/graph_send_uv: x=x y=y src_index=src_index dst_index=dst_index -> out=out | message_op:str
sequence_mask: x=X max_len=maxlen:int(MaxLenTensor) -> out=Y | out_dtype:dtype
sigmoid_cross_entropy_with_logits: x=X label=Label pos_weight=pos_weight? -> out=Out | normalize:bool ignore_index:int
share_data: x=X -> out=Out |
slogdet/slogdeterminant: x=Input -> out=Out |
spectral_norm: weight=Weight u=U v=V -> out=Out | dim:int power_iters:int eps:float
stanh: x=X -> out=Out | scale_a:float scale_b:float
swiglu: x=x y=y? -> out=out |
temporal_shift: x=X -> out=Out | seg_num:int shift_ratio:float data_format:str
trace: x=Input -> out=Out | offset:int axis1:int axis2:int
tril_indices: -> out=out | rows:int cols:int offset:int dtype:dtype ^place:place
triu_indices: -> out=out | row:int col:int offset:int dtype:dtype ^place:place
unique: x=X -> out=Out indices=Indices inverse=Index counts=Counts | return_index:bool return_inverse:bool \
    return_counts:bool axis:ints dtype:dtype is_sorted:bool
unique_consecutive: x=X -> out=Out index=Index counts=Counts | return_inverse:bool return_counts:bool axis:ints \
    dtype:dtype
unpool: x=X indices=Indices output_size=output_size:ints() -> out=Out | ksize:ints strides:ints padding=paddings:ints \
    data_format:str !unpooling_type:str=max
unpool3d: x=X indices=Indices -> out=Out | ksize:ints strides:ints paddings:ints output_size:ints data_format:str \
    !unpooling_type:str=max
viterbi_decode: potentials=Input transition_params=Transition lengths=Length -> scores=Scores path=Path | \
    include_bos_eos_tag:bool
warpctc: logits=Logits label=Label logits_length=LogitsLength? labels_length=LabelLength? -> loss=Loss \
    warpctcgrad=WarpCTCGrad | blank:int norm_by_times:bool
yolo_loss/yolov3_loss: x=X gt_box=GTBox gt_label=GTLabel gt_score=GTScore? -> loss=Loss \
    objectness_mask=ObjectnessMask gt_match_mask=GTMatchMask | anchors:ints anchor_mask:ints class_num:int \
    ignore_thresh:float downsample_ratio:int use_label_smooth:bool scale_x_y:float
"""

__all__ = ["LIBRARY_ROWS"]

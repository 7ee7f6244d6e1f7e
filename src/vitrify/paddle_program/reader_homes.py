"""Which module reads an operator of Paddle's: a program that is read imports those of its own operators alone.

Made by `python -m tests.ops.homes --write`, and compared with the modules by a test.
"""

from ..core.lazy import read_homes

_HOMES = """
detection_operators: box_coder distribute_fpn_proposals generate_proposals matrix_nms multiclass_nms3 prior_box
    psroi_pool roi_align roi_pool
effect_operators: assert print
layer_operators: batch_norm batch_norm_ bicubic_interp bilinear_interp celu conv2d conv2d_transpose conv3d
    conv3d_transpose cross_entropy_with_softmax depthwise_conv2d depthwise_conv2d_transpose dropout elu embedding
    fractional_max_pool2d fractional_max_pool3d fused_bias_residual_layernorm fused_rms_norm_quant gelu group_norm
    hardshrink hardsigmoid hardswish hardtanh instance_norm layer_norm leaky_relu linear_interp log_softmax logit
    lp_pool2d max_pool2d_with_index max_pool3d_with_index mish nearest_interp pad pad3d pixel_shuffle pool2d pool3d
    prelu selu softmax softplus softshrink thresholded_relu trilinear_interp unfold
library_operators: bincount broadcast_tensors cholesky det diag_embed diagonal eigh index_add index_put inverse
    kthvalue logcumsumexp mode nms qr scatter_nd_add searchsorted solve svd triangular_solve yolo_box
loss_operators: accuracy deformable_conv deformable_conv_v1 hsigmoid_loss sigmoid_cross_entropy_with_logits warpctc
    yolo_loss
named_operators: affine_grid allclose angle as_complex as_real bce_loss bernoulli bilinear bitwise_left_shift
    bitwise_right_shift channel_shuffle cholesky_solve complex conj copysign crop cross cummax cummin diag dist eig
    eigvalsh equal_all fft_c2c fft_c2r fft_r2c fill_diagonal fill_diagonal_tensor fold frame gammaincc gammaln
    gather_tree grid_sample gumbel_softmax heaviside histogram i0 i0e i1 i1e imag index_sample is_empty isclose
    kldiv_loss label_smooth log_loss logspace lstsq lu lu_unpack matrix_power matrix_rank maxout median multi_dot
    multiplex nanmedian nextafter nll_loss overlap_add pixel_unshuffle polygamma real reduce_as renorm
    repeat_interleave repeat_interleave_with_tensor_index rrelu segment_pool send_u_recv send_ue_recv send_uv
    sequence_mask slogdet stanh swiglu temporal_shift trace tril_indices triu_indices unique unique_consecutive
    unpool unpool3d viterbi_decode
old_layers: add_position_encoding affine_channel anchor_generator cvm data_norm dropout_nd fsp gru_unit
    iou_similarity lrn old_bicubic_interp old_bilinear_interp old_linear_interp old_nearest_interp
    old_trilinear_interp polygon_box_transform row_conv spp
old_losses: auc bpr_loss cross_entropy2 hinge_loss modified_huber_loss old_cross_entropy rank_loss
    teacher_student_sigmoid_loss
old_operators: expand_as_v2 fc fill_any fill_constant_batch_size_like fill_zeros_like flatten2
    fused_elemwise_activation l1_norm l2_normalize lookup_table minus mul old_crop old_expand old_flatten
    old_isfinite old_isinf old_isnan old_matmul old_one_hot old_reshape old_squeeze old_transpose old_unsqueeze
    partial_concat partial_sum reverse shard_index shuffle_channel soft_relu top_k unique_with_counts
operators: abs acos acosh add addmm all amax amin any arange argmax argmin argsort asin asinh assign assign_value
    assign_value_ atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor bmm cast ceil clip concat cos cosh
    cumprod cumsum digamma divide dot einsum elementwise_pow empty equal erf erfinv exp expand expm1 eye flatten
    flip floor floor_divide fmax fmin frobenius_norm full full_int_array full_like full_with_tensor gather gather_nd
    greater_equal greater_than index_select isfinite isinf isnan kron lerp less_equal less_than lgamma linspace log
    log10 log1p log2 logical_and logical_not logical_or logical_xor logsigmoid logsumexp masked_fill masked_select
    matmul max maximum mean meshgrid min minimum multiply mv nonzero not_equal numel one_hot p_norm pow prod
    put_along_axis reciprocal relu relu6 remainder reshape roll round rsqrt scale scatter set_value_
    set_value_with_tensor set_value_with_tensor_ shape shape64 share_data share_data_ sigmoid sign silu sin sinh
    slice softsign split split_with_num sqrt square squeeze stack strided_slice subtract sum swish take_along_axis
    tan tanh tanh_shrink tile topk transpose tril triu trunc trunc_divide unbind unsqueeze unstack where
optimizer_operators: adadelta_ adagrad_ adam_ adamax_ adamw_ lamb_ rmsprop_
quantized_operators: dequantize_linear fake_channel_wise_dequantize_max_abs fake_channel_wise_quantize_abs_max
    fake_channel_wise_quantize_dequantize_abs_max fake_dequantize_max_abs fake_quantize_abs_max
    fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max moving_average_abs_max_scale
    quantize_linear
random_operators: binomial dirichlet exponential_ gaussian multinomial poisson randint randperm standard_gamma
    uniform
recurrent_operators: rnn spectral_norm
training_operators: add_n clip_by_norm huber_loss increment mean_all momentum_ sgd_ squared_l2_norm
"""

HOMES = read_homes(_HOMES, __name__.rpartition(".")[0] + ".")
"""Module by operator."""

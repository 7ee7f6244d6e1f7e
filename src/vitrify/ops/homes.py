"""Which module defines an op: a program that is read imports those of its own ops, and no others.

Made by `python -m tests.ops.homes --write`, and compared with the registry by a test.
"""

from ..core.lazy import read_homes

_HOMES = """
amp.grad_scaler: unscale_and_check
eager.callback: differentiable_host_callback host_callback
eager.host_ops: assert host_draw host_effect host_value print raise seed
eager.initializer: initialize
eager.late_call: late_call
nn.clip: clip_gradients_by_global_norm clip_gradients_by_norm clip_gradients_by_value
ops.accuracy: top_k_hits
ops.activation: celu elu gelu gelu_grad hard_shrink hard_sigmoid hard_swish hard_tanh leaky_relu logsigmoid mish
    relu relu6 selu silu softplus softshrink softsign tanh_shrink thresholded_relu
ops.adaptive_pool: adaptive_avg_pool adaptive_avg_pool_grad adaptive_avg_pool_like adaptive_max_pool
    fractional_max_pool plane_gather plane_scatter
ops.arrange: flip roll
ops.batch_norm: batch_norm batch_norm_infer unless_single
ops.boxes: box_decode box_encode prior_box
ops.calls: call pack_frame unpack_frame
ops.class_loss: class_center_sample tree_path
ops.closeness: equal_all isclose
ops.compare: bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor equal
    greater_equal greater_than isfinite isinf isnan isneginf isposinf isreal less_equal less_than logical_and
    logical_not logical_or logical_right_shift logical_xor not_equal signbit
ops.complex_: abs angle as_complex as_real complex imag real sgn
ops.control_flow: if while
ops.conv: channel_spread channel_sum conv conv_input_grad conv_weight_grad
ops.conv_transpose: conv_transpose
ops.count: bincount histogram histogram_bin_edges histogramdd
ops.creation: arange assign_value eye full linspace one_hot triangle_indices
ops.cross_entropy: softmax_cross_entropy softmax_cross_entropy_grad
ops.cumulative: cummax_index cummin_index cumprod cumsum logcumsumexp
ops.decomposition: eig eigh qr svd
ops.deform_conv: window_places window_places_adjoint window_shift
ops.diagonal: diag_embed diagonal diagonal_adjoint diagonal_scatter fill_diagonal tril triu
ops.dropout: dropout keep_mask keep_mask_by masked_scale probability
ops.dropped_attention: dropped_attention dropped_attention_grad dropped_attention_mask_grad dropped_factors
ops.einsum: contract fit_like matching_diagonal
ops.elementwise: add conj divide floor_divide mod multiply neg scale subtract trunc_divide
ops.embedding: embedding embedding_by_frequency embedding_grad embedding_renorm
ops.expand: broadcast_tensors expand expand_view repeat_interleave sum_repeats sum_tiles tile
ops.feed_fetch: feed fetch
ops.flat_product: mul
ops.fourier: fft_c2c fft_c2r fft_r2c half_spectrum_weight resize_axes resize_axes_like
ops.fused: fused
ops.gather: gather gather_adjoint gather_nd take_along_axis take_along_axis_adjoint
ops.gather_tree: gather_tree
ops.hand_gradient: with_gradient
ops.index: getitem getitem_adjoint index_get index_get_adjoint index_put setitem
ops.interpolate: resize resize_adjoint resize_like
ops.join: concat stack
ops.least_squares: lstsq
ops.like: assign cast detach expand_like full_like reshape_like sum_to sum_to_like
ops.linalg: cholesky det inverse slogdet_parts solve triangular_solve
ops.linear: linear
ops.lists: list_append list_cast list_extend list_fill list_gap list_get list_join list_len list_of list_one
    list_order list_pick list_pluck list_put list_remove list_set list_slice list_split list_spread list_stack
    list_sum list_unorder list_unpluck list_unput list_unslice list_unstack list_zero_at list_zip
ops.long_attention: long_attention long_attention_grad long_attention_mask_grad
ops.losses: bce_loss
ops.lu: lu lu_pack lu_permutation lu_triangles
ops.masked: masked_gather masked_scatter
ops.masks: causal_mask
ops.matmul: matmul
ops.matrix_exp: matrix_exp
ops.matrix_nms: matrix_nms
ops.missing: absent fill_missing if_run is_given list_add list_present list_zeros_like
ops.moving_axis: axis_from_front axis_to_front
ops.multiclass_nms: multiclass_nms
ops.nms: nms
ops.normalization: group_norm instance_norm layer_norm norm_grad rms_norm
ops.norms: p_norm
ops.number: number_divide number_floor_divide number_mod number_pow number_pow_modulo number_round
ops.numerics: check_numerics
ops.pad: pad pad_adjoint
ops.patches: fold_patches fold_patches_like unfold_patches
ops.pool: avg_pool avg_pool_grad max_pool max_pool_gather max_pool_grad max_pool_with_index
ops.power: atan2 copysign frexp gcd heaviside hypot lcm lerp logaddexp nextafter pow
ops.proposals: distribute_fpn_proposals generate_proposals
ops.put_along_axis: first_places last_writers put_along_axis put_along_axis_chosen
ops.random: bernoulli gaussian multinomial randint randperm uniform
ops.random_fill: binomial poisson standard_gamma
ops.reduce: all any max mean min prod sum
ops.reduction: given
ops.roi: psroi_pool psroi_pool_adjoint region_pick region_put roi_align roi_align_adjoint roi_pool
ops.same_sizes: one_element sized sized_like with_ones without_ones
ops.scatter: index_add index_put_add scatter scatter_nd_add
ops.search: isin nonzero searchsorted
ops.select: clip fmax fmin maximum minimum nan_to_num where
ops.sequence_loss: ctc rnnt
ops.shape: flatten reshape squeeze unflatten unsqueeze view_dtype
ops.signal: nonzero_envelope overlap_add
ops.sizes: dim_size is_empty numel rank shape stand_in
ops.softmax: log_softmax prelu softmax straight_through
ops.sort: kthvalue mode sort sort_values topk
ops.special: digamma erf erfinv gammainc gammaincc i0 i0e i1 i1e lgamma logit polygamma sigmoid sinc stanh
ops.split: split split_like unstack
ops.statistics: argmax argmin logsumexp
ops.transfer: memcpy_d2h memcpy_h2d transfer_dtype transfer_layout
ops.transpose: transpose
ops.trig: acos acosh asin asinh atan atanh cos cosh deg2rad rad2deg sin sinh tan tanh
ops.unary: ceil exp expm1 floor frac log log10 log1p log2 reciprocal round round_to rsqrt sign sqrt square trunc
ops.unique: unique unique_consecutive
ops.unpool: max_unpool
ops.vision: base_grid corner nearest_gather place_gather place_scatter sample_positions
ops.viterbi: viterbi_decode
ops.windows: as_strided as_strided_adjoint fold_windows unfold_windows
ops.within: classes probabilities
ops.yolo: class_targets yolo_box yolo_targets
optimizer.adaptive_rules: adadelta_update adagrad_update rmsprop_centered_update rmsprop_update rprop_update
optimizer.asgd: asgd_update
optimizer.corrected_rules: nadam_update radam_update
optimizer.rules: adam_update adamax_update amsgrad_update lamb_update momentum_update nesterov_update sgd_update
static.printing: print_tensor
static.py_func: py_func
"""

HOMES = read_homes(_HOMES, "vitrify.")
"""Module by op."""

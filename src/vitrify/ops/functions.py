"""Functions of `paddle.tensor` and `paddle.nn.functional` that modules of ops define: each is imported when asked for.

For those who read programs of others, which need a few of them. Made by `python -m tests.ops.homes --write`; that what
it says is true is seen by a test.
"""

from ..core.lazy import lazy_attributes, read_homes

_HOMES = """
activation: celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid logsigmoid mish relu
    relu6 selu silu softplus softshrink softsign swish tanhshrink thresholded_relu
adaptive_pool: adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
arrange: block_diag cartesian_prod flip meshgrid roll rot90
attention: flash_attn_qkvpacked scaled_dot_product_attention
batch_norm: batch_norm
casting: is_complex is_floating_point is_integer
class_loss: adaptive_log_softmax_with_loss class_center_sample hsigmoid_loss margin_cross_entropy
closeness: allclose equal_all isclose
compare: bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor equal
    greater_equal greater_than gt isfinite isinf isnan isneginf isposinf isreal less_equal less_than logical_and
    logical_not logical_or logical_xor not_equal signbit
complex_: abs angle as_complex as_real complex conj imag polar real sgn
contraction: cross kron matrix_power multi_dot tensordot trace vecdot
conv: conv1d conv2d conv3d
conv_transpose: conv1d_transpose conv2d_transpose conv3d_transpose
count: bincount histogram histogram_bin_edges histogramdd
covariance: corrcoef cov
creation: arange assign clone empty empty_like eye full linspace logspace one_hot ones range tril_indices
    triu_indices zeros
cross_entropy: cross_entropy nll_loss softmax_with_cross_entropy
cumulative: cummax cummin cumprod cumsum logcumsumexp
decomposition: eig eigh eigvals eigvalsh matrix_rank pinv qr svd svdvals
diagonal: diag diag_embed diagflat diagonal diagonal_scatter tril triu
differences: cumulative_trapezoid diff trapezoid
distance: cdist pdist renorm
dropout: alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout
elementwise: add add_n divide floor_divide floor_mod increment mod mul multiply neg negative positive remainder
    scale subtract true_divide
embedding: embedding label_smooth
expand: broadcast_shape broadcast_shapes broadcast_tensors broadcast_to expand expand_as repeat_interleave tile
fill: fill_ zero_
gather: gather gather_nd index_sample index_select multiplex shard_index take take_along_axis
gather_tree: gather_tree
householder: householder_product ormqr
interpolate: interpolate upsample
join: column_stack concat dstack hstack row_stack stack vstack
least_squares: lstsq
like: cast full_like ones_like zeros_like
linalg: cholesky cholesky_inverse cholesky_solve det inverse slogdet solve triangular_solve
linear: bilinear linear
losses: binary_cross_entropy binary_cross_entropy_with_logits dice_loss gaussian_nll_loss kl_div l1_loss log_loss
    mse_loss multi_label_soft_margin_loss poisson_nll_loss sigmoid_focal_loss smooth_l1_loss soft_margin_loss
    square_error_cost
low_rank: pca_lowrank svd_lowrank
lu: lu lu_solve lu_unpack
margin_losses: cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_label_margin_loss
    multi_margin_loss npair_loss pairwise_distance triplet_margin_loss triplet_margin_with_distance_loss
masked: masked_fill masked_scatter masked_select
matmul: addmm baddbmm bmm dot inner matmul mm mv outer
matrix_exp: matrix_exp
normalization: group_norm instance_norm layer_norm rms_norm
norms: cond dist matrix_norm norm vector_norm
packed_attention: flash_attn_varlen_qkvpacked flashmask_attention
pad: pad zeropad2d
patches: fold
pool: avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d
power: atan2 copysign frexp gcd heaviside hypot lcm ldexp lerp logaddexp nextafter pow
put_along_axis: put_along_axis scatter_add scatter_reduce
quantile: median nanmedian nanquantile quantile
random: bernoulli gaussian log_normal multinomial normal rand rand_like randint randint_like randn randn_like
    randperm standard_normal uniform
random_fill: bernoulli_ binomial cauchy_ exponential_ geometric_ log_normal_ normal_ poisson random_ standard_gamma
    uniform_
rearrange: channel_shuffle pixel_shuffle pixel_unshuffle sequence_mask
reduce: all amax amin any count_nonzero max mean min prod reduce_as sum
scatter: index_add index_fill index_put scatter scatter_nd scatter_nd_add select_scatter slice_scatter
search: argwhere bucketize isin nonzero searchsorted
select: clip fmax fmin maximum minimum nan_to_num where
sequence_loss: ctc_loss rnnt_loss
shape: atleast_1d atleast_2d atleast_3d flatten ravel reshape squeeze unflatten unsqueeze view view_as
    view_as_complex view_as_real
similarity: cosine_similarity local_response_norm normalize
sizes: is_empty numel rank shape
slicing: crop narrow slice strided_slice
softmax: glu gumbel_softmax log_softmax maxout prelu rrelu softmax swiglu
sort: argsort kthvalue mode msort sort topk
special: digamma erf erfinv gammainc gammaincc gammaln i0 i0e i1 i1e lgamma logit multigammaln polygamma sigmoid
    sinc stanh
split: chunk dsplit hsplit split tensor_split unbind unstack vsplit
statistics: argmax argmin logsumexp nanmean nansum std var
transpose: matrix_transpose moveaxis permute t transpose
trig: acos acosh asin asinh atan atanh cos cosh deg2rad rad2deg sin sinh tan tanh
unary: ceil exp expm1 floor frac log log10 log1p log2 reciprocal round rsqrt sign sqrt square trunc
unique: unique unique_consecutive
unpool: lp_pool1d lp_pool2d max_unpool1d max_unpool2d max_unpool3d
vision: affine_grid grid_sample temporal_shift
windows: as_strided combinations vander
"""

__getattr__ = lazy_attributes(__name__.rpartition(".")[0], names=read_homes(_HOMES))

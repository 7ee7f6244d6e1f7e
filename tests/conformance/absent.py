"""Public names of PaddlePaddle that are not here, each with its reason. No model repository looked at uses one."""

from __future__ import annotations

from collections.abc import Mapping

INCUBATE = "paddle.incubate.nn.functional."
ABSENT: Mapping[str, str] = {
    "kernels of PaddlePaddle for GPUs alone: decoding with paged caches, mixtures of experts, 8-bit floats, "
    "two of four weights": (
        f"{INCUBATE}blha_get_max_len {INCUBATE}block_multihead_attention {INCUBATE}masked_multihead_attention "
        f"{INCUBATE}fused_multi_transformer paddle.incubate.nn.FusedMultiTransformer {INCUBATE}moe_combine "
        f"{INCUBATE}moe_gate_dispatch {INCUBATE}moe_gate_dispatch_and_quant {INCUBATE}moe_gate_dispatch_permute "
        f"{INCUBATE}moe_gate_dispatch_partial_nosoftmaxtopk {INCUBATE}build_src_rank_and_local_expert_id "
        f"{INCUBATE}cal_aux_loss {INCUBATE}expand_modality_expert_id {INCUBATE}int_bincount "
        f"{INCUBATE}embedding_grad_add_to_ {INCUBATE}cross_entropy_with_softmax_bwd_w_downcast "
        f"{INCUBATE}fused_swiglu_weighted_bwd {INCUBATE}fused_weighted_swiglu_act_quant {INCUBATE}fused_act_dequant "
        f"{INCUBATE}fused_stack_transpose_quant {INCUBATE}fused_transpose_split_quant "
        f"{INCUBATE}fused_transpose_wlch_split_quant {INCUBATE}fp8_gemm_blockwise {INCUBATE}fp8_quant_blockwise "
        "paddle.linalg.fp8_fp8_half_gemm_fused paddle.nn.functional.flash_attention_v3_varlen "
        "paddle.nn.functional.moe_permute paddle.nn.functional.moe_unpermute paddle.nn.functional.sparse_attention "
        "Tensor.top_p_sampling paddle.device.cuda.vmm_compact paddle.device.ipc_collect "
        "paddle.device.get_stream_from_external paddle.cuda.cudart paddle.cuda.check_error paddle.cuda.ipc_collect "
        "paddle.cuda.get_stream_from_external paddle.incubate.operators.ResNetUnit "
        "paddle.incubate.operators.resnet_unit paddle.incubate.asp.prune_model paddle.incubate.asp.decorate "
        "paddle.incubate.asp.calculate_density paddle.incubate.asp.add_supported_layer "
        "paddle.incubate.asp.set_excluded_layers paddle.incubate.asp.reset_excluded_layers"
    ),
    "more than one process": (
        "paddle.distributed.ColWiseParallel paddle.distributed.RowWiseParallel paddle.distributed.ConvParallel "
        "paddle.distributed.ContextParallel paddle.distributed.PrepareContextParallel "
        "paddle.distributed.PrepareLayerInput paddle.distributed.PrepareLayerOutput "
        "paddle.distributed.SequenceParallelBegin paddle.distributed.SequenceParallelDisable "
        "paddle.distributed.SequenceParallelEnable paddle.distributed.SequenceParallelEnd paddle.distributed.DistAttr "
        "paddle.distributed.DistModel paddle.distributed.LocalLayer paddle.distributed.ShardedStateDict "
        "paddle.distributed.ShardedWeight paddle.distributed.SplitPoint paddle.distributed.Strategy "
        "paddle.distributed.build_sharded_state_dict paddle.distributed.create_nccl_config "
        "paddle.distributed.load_merged_state_dict "
        "paddle.distributed.local_map paddle.distributed.parallelize "
        "paddle.distributed.shard_weight paddle.distributed.split paddle.distributed.to_distributed "
        "paddle.distributed.to_static "
        "paddle.distributed.rpc.init_rpc paddle.distributed.rpc.rpc_async paddle.distributed.rpc.rpc_sync "
        "paddle.distributed.rpc.get_worker_info paddle.distributed.rpc.get_all_worker_infos "
        "paddle.distributed.rpc.get_current_worker_info paddle.distributed.rpc.shutdown "
        "paddle.distributed.passes.new_pass paddle.distributed.passes.PassContext "
        "paddle.distributed.passes.PassManager"
    ),
    "devices of other vendors": (
        "paddle.XPUPinnedPlace paddle.device.IPUPlace paddle.device.XPUPlace paddle.inference.XpuConfig"
    ),
    "parts of PaddlePaddle's C++ objects that have no counterpart: other kinds of tensors, exchange by C pointers": (
        "Tensor.__c_dlpack_exchange_api__ Tensor.__dlpack_c_exchange_api__ Tensor.__tvm_ffi_env_stream__ "
        "Tensor.__cuda_array_interface__ Tensor.create_tensor Tensor.get_map_tensor Tensor.get_selected_rows "
        "Tensor.grad_ Tensor.reconstruct_from_ Tensor.rows Tensor.set_string_list Tensor.set_tensor Tensor.set_vocab "
        "paddle.MmapStorage paddle.pstring paddle.raw paddle.check_shape paddle.inference._get_phi_kernel_name "
        "paddle.sysconfig.get_include paddle.sysconfig.get_lib"
    ),
    "switches and forward derivatives of static programs of PaddlePaddle's older kind": (
        "paddle.incubate.autograd.enable_prim paddle.incubate.autograd.disable_prim "
        "paddle.incubate.autograd.forward_grad"
    ),
    "stand in for PyTorch's package and functions, which is not what this one is for": (
        "paddle.enable_compat paddle.disable_compat paddle.compat.equal paddle.compat.max paddle.compat.median "
        "paddle.compat.min paddle.compat.nanmedian paddle.compat.seed paddle.compat.slogdet paddle.compat.sort "
        "paddle.compat.split paddle.compat.unique paddle.compat.nn paddle.functional.split"
    ),
    "a second path of what stands elsewhere, such as paddle.FloatTensor": (
        "paddle.io.dataloader paddle.incubate.operators.softmax_mask_fuse paddle.static.amp.debugging "
        "paddle.device.BFloat16Tensor paddle.device.BoolTensor paddle.device.ByteTensor paddle.device.CharTensor "
        "paddle.device.DoubleTensor paddle.device.FloatTensor paddle.device.HalfTensor paddle.device.IntTensor "
        "paddle.device.LongTensor paddle.device.ShortTensor"
    ),
    "data sets of sounds, a corpus of roles in sentences that is not public, its format of traces, a sampler that "
    "aborts there; not done": (
        "paddle.audio.datasets.ESC50 paddle.audio.datasets.TESS "
        "paddle.text.Conll05st paddle.profiler.export_protobuf paddle.incubate.graph_khop_sampler"
    ),
}


INTERNAL = """PaddlePaddle's packages for its own developers have no counterpart either: `decomposition`,
`distributed.ps`, `distributed.auto_parallel.static`, `incubate.cc`, `incubate.passes`, `incubate.xpu`,
`jit.dy2static.transformers`, `quantization.imperative`, `static.quantization`, `utils.gast`, `base.core`."""


def section() -> str:
    """Return the part of the page that lists them."""
    lines = ["## Names that are not here", "", "| reason | names |", "|---|---|"]
    lines += [f"| {reason} | {', '.join(f'`{name}`' for name in names.split())} |" for reason, names in ABSENT.items()]
    return "\n".join([*lines, "", INTERNAL, ""])

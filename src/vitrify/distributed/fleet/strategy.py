"""The settings of distributed training, with Paddle's names and defaults."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ...core.errors import ArgumentError

# The settings with configurations of their own ("amp_configs") and what these hold at first.
_CONFIGS: dict[str, dict[str, Any]] = {
    "amp": {
        "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0,
        "decr_ratio": 0.8, "use_dynamic_loss_scaling": True, "custom_white_list": [], "custom_black_list": [],
        "custom_black_varnames": [], "use_pure_fp16": False, "use_fp16_guard": True, "use_optimizer_fp16": False,
        "use_pure_bf16": False,
    },
    "recompute": {
        "checkpoints": [], "enable_offload": False, "checkpoint_shape": [], "enable_tuning": False,
        "refined_ops_patterns": [],
    },
    "gradient_merge": {"k_steps": 1, "avg": True},
    "gradient_scale": {"scale_strategy": "avg", "scale_gradient": False},
    "lamb": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars": {"lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0, "exclude_from_weight_decay": []},
    "localsgd": {"k_steps": 1, "begin_step": 1},
    "adaptive_localsgd": {"init_k_steps": 1, "begin_step": 1},
    "dgc": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "pipeline": {
        "micro_batch_size": 1, "accumulate_steps": 1, "schedule_mode": "1F1B", "p2p_cache_shape": True,
        "enable_partial_send_recv": True,
    },
    "tensor_parallel": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "sharding": {
        "sharding_segment_strategy": "segment_broadcast_MB", "segment_broadcast_MB": 32.0, "segment_anchors": [],
        "sharding_degree": 8, "mp_degree": 1, "dp_degree": 1, "hybrid_dp": False, "gradient_merge_acc_step": 1,
        "optimize_offload": False, "pp_allreduce_in_optimize": False, "pp_degree": 1, "optimize_cast": False,
        "_dp_as_optimizer_sharding": False, "stage": 1, "enable_tuning": False, "use_calc_stream": False,
    },
    "a_sync": {
        "k_steps": -1, "max_merge_var_num": 1, "send_queue_size": 16, "independent_recv_thread": False,
        "min_send_grad_num_before_recv": 1, "thread_pool_size": 1, "send_wait_times": 1,
        "runtime_split_send_recv": False, "launch_barrier": True, "heter_worker_device_guard": "cpu",
        "lr_decay_steps": 10, "use_ps_gpu": 0, "use_gpu_graph": 0,
    },
    "qat": {
        "channel_wise_abs_max": True, "weight_bits": 8, "activation_bits": 8, "not_quant_pattern": [], "algo": "",
    },
    "trainer_desc": {
        "dump_fields_path": "", "dump_fields": [], "dump_param": [], "stat_var_names": [], "trainer": "",
        "device_worker": "", "local_sparse": [], "remote_sparse": [],
    },
    "hybrid": {
        "dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1, "ep_degree": 1,
        "moe_sharding_degree": 1, "cp_degree": 1, "cp_sharding_degree": 1, "enable_optimizer_timer": False,
        "split_norm_comm": False, **{f"{name}_configs": {} for name in (
            "mp", "pp", "sharding", "dp", "sep", "dp_sep", "pp_tp", "ep", "moe_sharding", "default_comm_group", "cp",
            "cp_sharding", "dp_cp", "cp_mp",
        )},
    },
}  # fmt: skip
_SETTINGS: dict[str, Any] = {
    **dict.fromkeys((
        "adam_d2sum", "adaptive_localsgd", "amp", "asp", "auto", "auto_search", "cudnn_batchnorm_spatial_persistent",
        "cudnn_exhaustive_search", "dgc", "elastic", "find_unused_parameters", "fp16_allreduce", "fuse_grad_merge",
        "gradient_merge", "heter_ccl_mode", "is_fl_ps_mode", "is_with_coordinator", "lamb", "lars", "localsgd",
        "pipeline", "qat", "recompute", "semi_auto", "sharding", "split_data", "sync_batch_norm", "tensor_parallel",
        "use_hierarchical_allreduce",
    ), False),
    "a_sync": True, "fuse_all_reduce_ops": True, "sync_nccl_allreduce": True, "without_graph_optimization": True,
    "conv_workspace_size_limit": 512, "fuse_grad_size_in_MB": 32, "fuse_grad_size_in_num": 8,
    "hierarchical_allreduce_inter_nranks": 1, "last_comm_group_size_MB": 1.0, "nccl_comm_num": 1,
    "build_strategy": None, "fs_client_param": "", "fleet_desc_configs": None, "sparse_table_configs": None,
}  # fmt: skip


class DistributedStrategy:
    """The settings of distributed training. Source: paddle.distributed.fleet.DistributedStrategy.

    One process has nothing to exchange, so they decide nothing, but the degrees of `hybrid_configs`, which may be 1
    only (-1: as many as there are). Dicts of configurations keep what is not given. Raises ArgumentError for a
    configuration that there isn't.

    Example:
        >>> import vitrify as paddle
        >>> strategy = paddle.distributed.fleet.DistributedStrategy()
        >>> strategy.amp, strategy.amp_configs = True, {"init_loss_scaling": 128.0}
        >>> strategy.amp_configs["incr_ratio"]
        2.0
    """

    def __init__(self) -> None:
        self.__dict__.update(_SETTINGS)
        self.__dict__.update(deepcopy({f"{name}_configs": table for name, table in _CONFIGS.items()}))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"DistributedStrategy has no setting {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        known = _CONFIGS.get(name.removesuffix("_configs"))
        if known is not None and name.endswith("_configs"):
            for key in value:
                if key not in known:
                    raise ArgumentError(f"DistributedStrategy: {name} has no {key!r}, it has {sorted(known)}")
            value = {**self.__dict__[name], **value}
        self.__dict__[name] = value


__all__ = ["DistributedStrategy"]

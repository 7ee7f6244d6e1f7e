"""`paddle.version`: which Paddle's names these are, and what they run with. Source: paddle.version.

The numbers are those of the PaddlePaddle that vitrify is measured against, for model code asks whether they are new
enough; vitrify's own version is `vitrify.__version__`.
"""

from __future__ import annotations

from .core.mkl import mkl as library
from .core.paddle_version import FULL_VERSION
from .device.available import get_cudnn_version

full_version = FULL_VERSION
major, minor, patch = full_version.split(".")
rc = "0"
commit = ""
with_pip_cuda_libraries = "OFF"


def cuda() -> str:
    """The version of CUDA that kernels were built for: 'False', for they are built when they are first used.

    Source: paddle.version.cuda.

    >>> cuda()
    'False'
    """
    return "False"


def cudnn() -> str:
    """The version of cuDNN, 'False' without. Source: paddle.version.cudnn.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.cudnn() == "False" or int(paddle.version.cudnn()) > 0
        True
    """
    found = get_cudnn_version()
    return "False" if found is None else str(found)


def mkl() -> str:
    """'ON' where native programs multiply matrices by MKL, which the package `mkl` brings, else 'OFF'.

    Source: paddle.version.mkl.
    """
    return "ON" if library() is not None else "OFF"


def cuda_archs() -> list[int]:
    """The architectures that kernels were built for: none beforehand. Source: paddle.version.cuda_archs.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.cuda_archs()
        []
    """
    return []


def nccl() -> str:
    """The version of NCCL: '0', there is but one process. Source: paddle.version.nccl.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.nccl()
        '0'
    """
    return "0"


def xpu() -> str:
    """'False': no such device. Source: paddle.version.xpu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.xpu()
        'False'
    """
    return "False"


def xpu_xre() -> str:
    """'False': no such device. Source: paddle.version.xpu_xre.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.xpu_xre()
        'False'
    """
    return "False"


def xpu_xccl() -> str:
    """'False': no such device. Source: paddle.version.xpu_xccl.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.xpu_xccl()
        'False'
    """
    return "False"


def xpu_xhpc() -> str:
    """'False': no such device. Source: paddle.version.xpu_xhpc.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.xpu_xhpc()
        'False'
    """
    return "False"


def tensorrt() -> str:
    """'None': no such engine. Source: paddle.version.tensorrt.

    Example:
        >>> import vitrify as paddle
        >>> paddle.version.tensorrt()
        'None'
    """
    return "None"


def show() -> None:
    """Print the versions. Source: paddle.version.show.

    >>> show()  # doctest: +ELLIPSIS
    full_version: 3.3.1
    major: 3
    ...
    """
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\nrc: {rc}")
    print(f"cuda: {cuda()}\ncudnn: {cudnn()}\nnccl: {nccl()}")


__all__ = [
    "cuda", "cuda_archs", "cudnn", "full_version", "major", "minor", "mkl", "nccl", "patch", "rc", "show", "tensorrt",
    "xpu", "xpu_xccl", "xpu_xhpc", "xpu_xre",
]  # fmt: skip

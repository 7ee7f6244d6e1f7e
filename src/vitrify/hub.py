"""`paddle.hub`: models that a folder offers in its hubconf.py. Nothing is downloaded. Source: paddle.hub."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from .core.errors import ArgumentError, UnsupportedError, UserCodeError

_FILE = "hubconf.py"


class HubError(UserCodeError, RuntimeError):
    """A folder does not offer what was asked of it."""


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> Any:
    """The names of the models that the folder offers. source: "local"; see `load` for errors.

    Source: paddle.hub.list.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "hubconf.py").write_text("def doubled(n=1): return n * 2")
        >>> paddle.hub.list(folder, source="local")
        ['doubled']
    """
    module = _configuration(repo_dir, source)
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """What the folder says of one of its models. source: "local"; see `load` for errors. Source: paddle.hub.help.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "hubconf.py").write_text("def doubled(n=1): 'Twice n.'")
        >>> paddle.hub.help(folder, "doubled", source="local")
        'Twice n.'
    """
    return _entry(_configuration(repo_dir, source), model).__doc__


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    """What the function `model` of the folder's hubconf.py gives for `kwargs`.

    source: must be "local". That file is run, so it must be one that you trust. Raises UnsupportedError for other
    sources that Paddle has, for nothing is downloaded, and HubError for what the folder lacks, or lacks beside it.
    Source: paddle.hub.load.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "hubconf.py").write_text("def doubled(n=1): return n * 2")
        >>> paddle.hub.load(folder, "doubled", source="local", n=21)
        42
    """
    return _entry(_configuration(repo_dir, source), model)(**kwargs)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    check_hash: bool = False,
    file_name: str | None = None,
    map_location: Any = None,
) -> Any:
    """Raises UnsupportedError: nothing is downloaded. Source: paddle.hub.load_state_dict_from_url.

    Example:
        >>> import vitrify as paddle
        >>> try:
        ...     paddle.hub.load_state_dict_from_url("https://example.org/net.pdparams")
        ... except Exception as err:
        ...     print(str(err).splitlines()[0])
        hub: https://example.org/net.pdparams is not downloaded
    """
    raise UnsupportedError(f"hub: {url} is not downloaded", hint="fetch the file yourself and read it by paddle.load")


def _configuration(repo_dir: str, source: str) -> ModuleType:
    """The folder's hubconf.py, run."""
    if source not in ("github", "gitee", "local"):
        raise ArgumentError(f'hub: unknown source {source!r}, expected "local"')
    if source != "local":
        raise UnsupportedError(
            f"hub: {repo_dir} is not downloaded from {source}",
            hint='fetch the repository yourself and pass its folder with source="local"',
        )
    folder = Path(repo_dir).expanduser()
    path = folder / _FILE
    if not path.is_file():
        raise HubError(f"hub: {folder} has no {_FILE}")
    with _first_on_the_path(folder):
        module = _run(path)
    missing = [name for name in getattr(module, "dependencies", ()) if find_spec(name) is None]
    if missing:
        raise HubError(f"hub: {path} needs packages that are not installed: {', '.join(missing)}")
    return module


def _run(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise HubError(f"hub: {path} cannot be imported")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _first_on_the_path(folder: Path) -> Iterator[None]:
    """A block in which imports look into `folder` first."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _entry(module: ModuleType, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(module, name, None)
    if name.startswith("_") or not callable(found):
        raise HubError(f"hub: {module.__file__} offers no model {name!r}")
    return found


__all__ = ["HubError", "help", "list", "load", "load_state_dict_from_url"]

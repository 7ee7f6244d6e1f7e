"""Optional third-party packages, and our own that few programs use, imported when first needed."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any


class MissingPackageError(ImportError):
    """An optional package is not installed; the message names the pip extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed: pip install 'vitrify[{extra}]'",
            name=package,
        )
        self.package = package
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.purpose)


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Return the optional module, importing it now if this is its first use.

    Raises MissingPackageError (an ImportError) that names `purpose` and the pip `extra` to install. A package that is
    there but fails to import keeps its own error: installing it again would not help.

    >>> require("json", extra="examples", purpose="reading a file").__name__
    'json'
    """
    if not is_available(module):
        raise MissingPackageError(module.partition(".")[0], extra, purpose)
    return import_module(module)


def is_available(module: str) -> bool:
    """Say whether the optional module's package is installed, without importing it."""
    return find_spec(module.partition(".")[0]) is not None


class _LazyModule(ModuleType):
    """A module by its name, imported when an attribute of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # the next time it is found without coming here
        return value


def lazy_module(name: str) -> Any:
    """Return a stand-in for the module, which is imported when something of it is first used.

    For packages that we cannot do without but that take long to import.

    >>> lazy_module("json").dumps([1])
    '[1]'
    """
    return _LazyModule(name)


def extension_module(name: str) -> ModuleType:
    """Return a package's extension module without importing the package around it, which may take far longer.

    For modules made by Cython that need nothing of their package: imported later, they are the same ones.
    """
    package = name.rpartition(".")[0]
    top, *inner = package.split(".")
    around = None if package in sys.modules else find_spec(top)
    folders = [str(Path(folder, *inner)) for folder in (around and around.submodule_search_locations) or ()]
    found = PathFinder.find_spec(name, folders) if folders else None
    if found is None or found.loader is None:
        return import_module(name)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    sys.modules.pop(name, None)  # it enters itself; the package, once imported, has to find it by its own way
    return module


def read_homes(table: str, package: str = "") -> dict[str, str]:
    """The module of each name: the table has lines of names behind a module and a colon.

    >>> read_homes("shapes: square circle", "geometry.")
    {'square': 'geometry.shapes', 'circle': 'geometry.shapes'}
    """
    found: dict[str, str] = {}
    home = ""
    for word in table.split():
        if word.endswith(":"):
            home = package + word[:-1]
        else:
            found[word] = home
    return found


def lazy_attributes(
    package: str, modules: Sequence[str] = (), names: Mapping[str, str] | None = None, all_of: Sequence[str] = ()
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose parts are imported when first asked for.

    modules: submodules. names: attribute -> submodule that defines it. all_of: submodules whose every public name is
    the package's own as well.
    """
    homes = names or {}

    def __getattr__(name: str) -> Any:
        if name in modules:
            return import_module(f".{name}", package)
        for home in [homes[name]] if name in homes else () if name.startswith("_") else all_of:
            found = getattr(import_module(f".{home}", package), name, homes)
            if found is not homes:
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__

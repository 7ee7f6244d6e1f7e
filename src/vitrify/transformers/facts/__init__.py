"""Facts about one function: scopes, reads and writes, flow, liveness, definedness.

Facts are computed from a tree when a transformer asks and never stored in it, so they cannot be stale.
"""

from .activity import Activity, activity, captured_by
from .function import FunctionFacts, analyze
from .scopes import Scope, free_names, scope_of

__all__ = ["Activity", "FunctionFacts", "Scope", "activity", "analyze", "captured_by", "free_names", "scope_of"]

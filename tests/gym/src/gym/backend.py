"""Which function implements an operation."""

from collections.abc import Callable

IMPLEMENTATIONS: dict[tuple[str, str], Callable] = {}


def register_impl(op: str, backend: str) -> Callable[[Callable], Callable]:
    """Register the function below as the implementation of an operation."""

    def register(function: Callable) -> Callable:
        IMPLEMENTATIONS[op, backend] = function
        return function

    return register

"""Memoisation of mutually recursive set-valued queries, exact on cycles.

``x = x + [k]`` in a loop, or a cache that is read and refilled, makes a query ask for
itself. The first query of such a cycle assumes the empty set, and is repeated with
its own last answer until nothing is added. Answers that rest on an assumption are
kept only as long as the query they rest on is running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from values import NO_TAGS, Unknown, Values, join

MAX_STACK = 2000
MAX_ROUNDS = 12
INDEPENDENT = 1 << 30


class Fixpoint:
    """The memo of one evaluator."""

    def __init__(self) -> None:
        self._memo: dict[object, Values] = {}
        self._active: dict[object, int] = {}
        self._assumed: dict[object, Values] = {}
        self._hit: set[object] = set()
        # Answers that rest on the running query at the given depth, oldest first.
        self._provisional: dict[object, tuple[Values, int]] = {}
        self._lowest = INDEPENDENT
        self._changed = False

    def solve(self, key: object, compute: Callable[[], Iterable[Values]]) -> Values:
        """The union of what ``compute`` yields."""
        if key in self._memo:
            return self._memo[key]
        if key in self._provisional:
            answer, low = self._provisional[key]
            self._lowest = min(self._lowest, low)
            return answer
        if key in self._active:
            self._hit.add(key)
            self._lowest = min(self._lowest, self._active[key])
            return self._assumed.get(key, {})
        depth = len(self._active)
        if depth > MAX_STACK:
            self._lowest = 0
            return {Unknown(): NO_TAGS}
        outer_lowest = self._lowest
        before = len(self._provisional)
        self._active[key] = depth
        try:
            answer, low = self._rounds(key, compute, before)
        finally:
            del self._active[key]
        if low >= depth:
            self._memo[key] = answer
            if not self._active:
                self._assumed.clear()
                self._hit.clear()
            self._settle(before, None)
            self._lowest = outer_lowest
        else:
            self._settle(before, low)
            self._provisional[key] = (answer, low)
            self._lowest = min(outer_lowest, low)
        return answer

    def _rounds(self, key: object, compute: Callable[[], Iterable[Values]], before: int) -> tuple[Values, int]:
        """Compute once, or until stable if this is the outermost query of a cycle.

        Inner queries of a cycle are not repeated on their own, which would take time
        exponential in the nesting; what they assumed last is kept for the next round.
        """
        depth = self._active[key]
        answer: Values = {}
        for _ in range(MAX_ROUNDS):
            self._lowest = INDEPENDENT
            answer = dict(self._assumed.get(key, {}))
            for part in compute():
                join(answer, part)
            if key in self._hit and answer != self._assumed.get(key, {}):
                self._assumed[key] = answer
                self._changed = True
            if self._lowest < depth or not self._changed:
                break
            self._changed = False
            self._forget(before)
        if self._lowest >= depth:
            self._changed = False
        return answer, self._lowest

    def _forget(self, before: int) -> None:
        for key in list(self._provisional)[before:]:
            del self._provisional[key]

    def _settle(self, before: int, low: int | None) -> None:
        """Answers resting on a finished query become final, or rest on what it rests on."""
        for key in list(self._provisional)[before:]:
            answer, own = self._provisional[key]
            if low is None:
                self._memo[key] = answer
                del self._provisional[key]
            else:
                self._provisional[key] = (answer, min(own, low))

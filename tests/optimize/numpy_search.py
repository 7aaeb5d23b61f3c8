"""The line search over a function of two numbers, in float64 NumPy, as a reference."""

import dataclasses

import numpy as np

SHRINK, MIN_SCALE = 0.5, 1e-5


def gradient_descent(gradient, rate, memory):
    return -rate * gradient, memory


def momentum(gradient, rate, memory):
    velocity = 0.5 * memory.get("velocity", 0) + gradient
    return -rate * velocity, {"velocity": velocity}


def adam(gradient, rate, memory):
    count = memory.get("count", 0) + 1
    m = 0.5 * memory.get("m", 0) + 0.5 * gradient
    v = 0.75 * memory.get("v", 0) + 0.25 * gradient**2
    rate *= np.sqrt(1 - 0.75**count) / (1 - 0.5**count)
    return -rate * m / (np.sqrt(v) + 2.0**-20), {"count": count, "m": m, "v": v}


@dataclasses.dataclass(frozen=True)
class Step:
    """What one step did: the trials as (scale, loss, bound), and the weights after it."""

    trials: list
    accepted: bool
    weights: np.ndarray


class NumpySearch:
    """Each policy by its formula, with the default settings of the library.

    Args:
      function: a function of two numbers.
      base: how the wrapped optimizer steps: one of the functions above.
      condition: "decrease", "armijo" or "nonmonotone".
      first_scale: "constant", "grow" or "polyak".
      interpolation: None, "quadratic" or "cubic".
    """

    def __init__(self, function, base, condition, first_scale, interpolation):
        self._function, self._base = function, base
        self._condition, self._first_scale = condition, first_scale
        self._interpolation = interpolation
        self._memory, self._losses = {}, []
        self._grown, self._remembered_trials = 1.0, 0

    def step(self, weights, gradient, rate):
        """Takes a step from weights [2] with this gradient [2] and learning rate."""
        loss = self._function(*weights)
        self._losses.append(loss)
        direction, memory = self._base(gradient, rate, self._memory)
        slope = gradient @ direction
        trials, accepted, scale = [], False, self._first(loss, slope)
        while not accepted and (not trials or scale >= MIN_SCALE):
            trial = self._function(*(weights + scale * direction))
            bound = self._bound(loss, scale * min(slope, 0))
            strict = self._condition == "decrease"
            accepted = np.isfinite(trial) and (trial < bound if strict else trial <= bound)
            trials.append((scale, trial, bound))
            scale = self._next(trials, loss, slope)
        self._remember(len(trials), trials[-1][0], accepted)
        if not accepted:
            return Step(trials, False, weights)
        self._memory = memory
        return Step(trials, True, weights + trials[-1][0] * direction)

    def _first(self, loss, slope):
        if self._first_scale == "grow":
            return self._grown
        if self._first_scale == "constant":
            return 1.0
        scale = loss / (-0.1 * slope) if slope < 0 else 1.0
        return min(scale, 10.0) * SHRINK**self._remembered_trials

    def _bound(self, loss, promised):
        tolerance = 2 * np.finfo(float).eps * abs(loss)
        if self._condition == "decrease":
            return loss
        if self._condition == "armijo":
            return loss + tolerance + 0.1 * promised
        return max(np.mean(self._losses), loss) + tolerance + 0.5 * promised

    def _next(self, trials, loss, slope):
        """Nocedal and Wright, (3.58) and the equations after it, kept in [0.1, 0.5] of the last."""
        scale, trial, _ = trials[-1]
        if self._interpolation is None or not np.isfinite(trial) or slope >= 0:
            return scale * SHRINK
        guess = -slope * scale**2 / (2 * (trial - loss - slope * scale))
        if self._interpolation == "cubic" and len(trials) > 1:
            earlier, earlier_trial, _ = trials[-2]
            matrix = [[earlier**2, -(scale**2)], [-(earlier**3), scale**3]]
            above = [trial - loss - slope * scale, earlier_trial - loss - slope * earlier]
            a, b = np.array(matrix) @ above / (earlier**2 * scale**2 * (scale - earlier))
            with np.errstate(all="ignore"):
                root = np.sqrt(b**2 - 3 * a * slope)
                cubic = -slope / (b + root) if b > 0 else (root - b) / (3 * a)
            guess = cubic if np.isfinite(cubic) else guess
        return np.clip(guess, 0.1 * scale, 0.5 * scale)

    def _remember(self, count, scale, accepted):
        if accepted:
            self._grown = min(max(scale * 1.3, 1e-3), 10.0)
        self._remembered_trials = max(self._remembered_trials + count - 2, 0)

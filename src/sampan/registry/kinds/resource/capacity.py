"""Capacity of a device that claims may request. Source: pkg/apis/resource/validation/validation.go (1.36)."""

from sampan.core.field import Path, forbidden, invalid, required, too_many
from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.registry.kinds.resource.rules import check_unique
from sampan.registry.rules.fields import Errors

_VALUES_MAX = 10
_ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def check_capacity(capacity: Object, path: Path, errors: Errors) -> None:
    """Check the policy of requests: single values or a range, with a valid default."""
    policy, at = capacity.get("requestPolicy"), path.child("requestPolicy")
    if policy is None:
        return
    values, range_ = policy.get("validValues") or [], policy.get("validRange")
    if values and range_ is not None:
        errors.append(forbidden(at, _ONE_POLICY))
        return
    default, most = policy.get("default"), Quantity.parse(capacity["value"])
    for name, given in (("validValues", values), ("validRange", range_ is not None)):
        if not given:
            continue
        if default is None:
            errors.append(required(at.child("default"), f"required when {name} is defined"))
        elif name == "validValues":
            _check_values(values, Quantity.parse(default), most, at.child(name), errors)
        else:
            _check_range(policy[name], Quantity.parse(default), most, at.child(name), errors)


def _check_values(texts: list[str], default: Quantity, most: Quantity, path: Path, errors: Errors) -> None:
    values = [Quantity.parse(text) for text in texts]
    for index in range(1, len(values)):
        if values[index - 1] > values[index]:
            errors.append(invalid(path.index(index), texts[index], "values must be sorted in ascending order"))
    if len(values) > _VALUES_MAX:
        errors.append(too_many(path, len(values), _VALUES_MAX))
    else:
        for index, value in enumerate(values):
            if value > most:
                errors.append(invalid(path.index(index), texts[index], f"option is larger than capacity value: {most}"))
        check_unique([str(value.value()) for value in values], path, errors)
    if default not in values:
        errors.append(invalid(path, str(default), "default value is not valid according to the requestPolicy"))


def _check_range(range_: Object, default: Quantity, most: Quantity, path: Path, errors: Errors) -> None:
    if "min" not in range_:
        errors.append(required(path.child("min"), "required when validRange is defined"))
        return
    low, at = Quantity.parse(range_["min"]), path.child("min")
    high = Quantity.parse(range_["max"]) if "max" in range_ else None
    if low > most:
        errors.append(invalid(at, str(low), f"min is larger than capacity value: {most}"))
    if default < low:
        errors.append(invalid(at, str(default), f"default is less than min: {low}"))
    if high is not None:
        at = path.child("max")
        if low > high:
            errors.append(invalid(at, str(low), f"min is larger than max: {high}"))
        if high > most:
            errors.append(invalid(at, str(high), f"max is larger than capacity value: {most}"))
        if default > high:
            errors.append(invalid(at, str(default), f"default is more than max: {high}"))
    if "step" in range_:
        _check_step(
            Quantity.parse(range_["step"]), low, [default, *([high] if high is not None else [])], most, path, errors
        )


def _check_step(
    step: Quantity, low: Quantity, values: list[Quantity], most: Quantity, path: Path, errors: Errors
) -> None:
    at, added = path.child("step"), low + step
    if added > most:
        errors.append(invalid(at, str(step), f"one step {added} is larger than capacity value: {most}"))
    for value in values:
        if step.value() and (value.value() - low.value()) % step.value():
            text = f"value is not a multiple of a given step ({step}) from ({low})"
            errors.append(invalid(at, str(value), text))

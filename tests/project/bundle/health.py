"""Objects with all forms of a status, and the health that they have."""

from typing import Any

from hypothesis import strategies as st

GENERATION = 3
_generations = st.sampled_from([None, GENERATION - 1, GENERATION])
_condition = st.builds(
    lambda type, status, observed, message: {
        "type": type,
        "status": status,
        "reason": "Reason",
        **({} if observed is None else {"observedGeneration": observed}),
        **({} if message is None else {"message": message}),
    },
    st.sampled_from(["Ready", "Stalled", "Degraded", "Progressing"]),
    st.sampled_from(["True", "False", "Unknown"]),
    _generations,
    st.sampled_from([None, "text"]),
)
_status = st.one_of(
    st.none(),
    st.builds(
        lambda observed, conditions: {
            **({} if observed is None else {"observedGeneration": observed}),
            **({} if conditions is None else {"conditions": conditions}),
        },
        _generations,
        st.one_of(st.none(), st.lists(_condition, max_size=4, unique_by=lambda each: each["type"])),
    ),
)
objects = _status.map(
    lambda status: {
        "metadata": {"name": "a", "generation": GENERATION},
        **({} if status is None else {"status": status}),
    }
)


def health_of(obj: dict[str, Any]) -> str:
    """Return the health as Argo CD calls it."""
    status = obj.get("status", {})
    if status.get("observedGeneration", GENERATION) != GENERATION:
        return "Progressing"
    conditions = {each["type"]: each for each in status.get("conditions", [])}
    if any(conditions.get(type, {}).get("status") == "True" for type in ("Stalled", "Degraded")):
        return "Degraded"
    ready = conditions.get("Ready", {})
    is_current = ready.get("observedGeneration", GENERATION) == GENERATION
    return "Healthy" if ready.get("status") == "True" and is_current else "Progressing"

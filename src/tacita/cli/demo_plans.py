"""The plans that `tacita demo` compares: four ways to protect the household survey."""

from __future__ import annotations

from typing import Any


def demo_plan() -> Any:
    """Steps that make the demo survey safe: coarser ages, no rare categories, coarser weights, no trace of order, few
    cells blanked."""
    from tacita.protect.group_rare import GroupRare
    from tacita.protect.recode.recode import Recode
    from tacita.protect.suppress.suppress import Suppress
    from tacita.protect.top_code import TopCode
    from tacita.release.plan import Plan

    ranks = {"status": 1, "region": 2, "sex": 3, "age": 4, "citizenship": 5}
    return Plan(
        (
            Recode(("age",), breaks=(15, 30, 50, 65)),
            GroupRare(("citizenship",), least_share=0.02),
            GroupRare(("status",), least_share=0.06),
            *_without_traces(),
            TopCode(("income",), share=0.01, value="mean"),
            # Last, so that it sees what could give suppressed cells back.
            Suppress(k=5, importance=ranks),
        )
    )


def demo_plans() -> dict[str, Any]:
    """The plan that is released, and three others to compare it with: fewer blanks, exchanged values, averages."""
    from tacita.protect.microaggregate.microaggregate_mixed import MicroaggregateMixed
    from tacita.protect.noise.noise import Noise
    from tacita.protect.pram.pram import Pram
    from tacita.protect.recode.recode import Recode
    from tacita.protect.suppress.suppress import Suppress
    from tacita.release.plan import Plan

    tens = Recode(("age",), width=10)
    return {
        "suppression": demo_plan(),
        "light": Plan((tens, *_without_traces(), Suppress(k=3))),
        "perturbation": Plan(
            (tens, *_without_traces(), Pram(("region", "citizenship", "status"), pd=0.7), Noise(("income",), 0.25))
        ),
        "microaggregation": Plan(
            (
                *_without_traces(),
                MicroaggregateMixed(("region", "sex", "age", "citizenship", "status", "income"), k=5),
            )
        ),
    }


def _without_traces() -> tuple[Any, ...]:
    """Coarser weights, new identifiers, another order."""
    from tacita.protect.new_identifiers import NewIdentifiers
    from tacita.protect.random_order import RandomOrder
    from tacita.protect.weights.round_weights import RoundWeights

    return RoundWeights(digits=1), NewIdentifiers(), RandomOrder("households")

"""The risk profile of a file: everything `assess` measured, in one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tacita import __version__, check, frame
from tacita.arrays import Bools, Ints
from tacita.assessment import record_table, text
from tacita.assessment.numeric_keys import not_judged, numeric_keys_not_judged
from tacita.check import TacitaError
from tacita.keys.table import KeyTable
from tacita.measures import find
from tacita.policy import Policy, is_void
from tacita.result import Repair, Result, Table, Verdict, all_hold
from tacita.risk.identity.attackers import Attackers
from tacita.risk.identity.household_risk import HouseholdRisk
from tacita.risk.identity.individual_risk import IndividualRisk
from tacita.risk.identity.k_anonymity import KAnonymity
from tacita.risk.identity.reidentification import Reidentification, Threshold, ThresholdCurve, repair_of_rate
from tacita.risk.identity.risk_threshold import RiskThreshold
from tacita.scenario import Scenario

MAIN = "keys"
"""The name of the main key set."""


@dataclass(frozen=True, eq=False)
class KeySetRisk:
    """Everything measured on one set of keys."""

    name: str
    """`keys` for the main set."""
    k: int | None
    """The k that counts as safe here."""
    risk_limit: float | None
    """The individual risk that counts as safe here."""
    k_anonymity: KAnonymity
    other_rules: dict[str, KAnonymity]
    """k-anonymity under other missing-value rules, where keys have missing values."""
    individual: IndividualRisk
    reidentification: Reidentification
    threshold: Threshold | None
    """The risk threshold that would keep the policy's rate; None where the rate is kept, or not limited."""
    attackers: Attackers

    @property
    def table(self) -> KeyTable:
        """The keys."""
        return self.individual.table

    def verdicts(self, policy: Policy) -> Iterator[Verdict]:
        """Whether the limits of the policy, or the key set's own ones, are kept."""
        own = self._own(policy)
        for result in (self.k_anonymity, self.individual, self.reidentification):
            for verdict in result.verdicts(own):
                on = "" if self.name == MAIN else f" on the key set {self.name!r}"
                name = verdict.name if self.name == MAIN else f"{verdict.name}:{self.name}"
                yield replace(verdict, name=name, why=f"{verdict.why.rstrip('.')}{on}")

    def repair(self, limit: str, policy: Policy, key_sets: Sequence[str] = ()) -> Repair | None:
        """What would make a limit of the policy hold; the proposed step names key sets if some are given."""
        own = self._own(policy)
        if limit == "rate":
            return repair_of_rate(self.individual, self.threshold, float(own.rate or 0), key_sets)
        return (self.k_anonymity if limit == "k" else self.individual).repair(own, key_sets)

    def _own(self, policy: Policy) -> Policy:
        """The policy with the limits of this key set."""
        if (self.k, self.risk_limit) == (policy.k, policy.risk):
            return policy
        return replace(policy, k=self.k, risk=self.risk_limit)

    @property
    def unsafe_by_k(self) -> int:
        """Records below k."""
        return 0 if self.k is None else self.k_anonymity.below(self.k)

    @property
    def unsafe_by_risk(self) -> int:
        """Records above the limit of individual risk."""
        return 0 if self.risk_limit is None else self.individual.records_above(self.risk_limit)

    def violates_k(self) -> Bools:
        """By record: whether it is below k."""
        few = self.table.sample_count < (self.k or 0)
        return self.table.per_record(few)

    def violates_risk(self) -> Bools:
        """By record: whether its risk is above the limit."""
        above: Bools = self.individual.risk > (np.inf if self.risk_limit is None else self.risk_limit)
        return above


@dataclass(frozen=True, eq=False)
class RiskProfile(Result):
    """Who in this file is at risk, under which attack? `print` it for one screen, verdict first."""

    figure: ClassVar[str | None] = "risk_histogram"

    scenario: Scenario
    policy: Policy
    record: Ints
    """The number of each record."""
    sets: tuple[KeySetRisk, ...]
    """One part per key set, the main one first; none where all keys are numeric."""
    household: HouseholdRisk | None
    """Household risk on the main keys."""
    further: Mapping[str, Result]
    """What else the scenario called for, the policy limits or was asked for, by name of the measure."""
    not_measured: tuple[Verdict, ...]
    """Limits of the policy on what could not be measured."""
    cautions: tuple[str, ...]
    """What the reader should know."""
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict, repr=False)
    """By key the labels of its values, for the table of the riskiest records."""
    weight_rounding: Mapping[str, Any] | None = None
    """What `RoundWeights` needs so that the weight tells no key; None where it tells none, or no digits are enough."""

    @property
    def size(self) -> int:
        """Number of records."""
        return self.main.table.size if self.sets else len(self.record)

    @property
    def on_engine(self) -> bool:
        """Whether the records stayed on an engine, so that there is one row per distinct key here."""
        return False

    @property
    def main(self) -> KeySetRisk:
        """The part of the main keys; an error where all keys are numeric."""
        if not self.sets:
            raise TacitaError("k, risk and rate do not apply to numeric keys; pass keys=[...] in the scenario.")
        return self.sets[0]

    @property
    def k_anonymity(self) -> KAnonymity:
        """k-anonymity on the main keys."""
        return self.main.k_anonymity

    @property
    def individual(self) -> IndividualRisk:
        """Individual risk on the main keys."""
        return self.main.individual

    @property
    def reidentification(self) -> Reidentification:
        """Expected re-identifications on the main keys."""
        return self.main.reidentification

    @property
    def expected(self) -> float:
        """ER on the main keys."""
        return self.main.reidentification.expected

    @property
    def rate(self) -> float:
        """Re-identification rate on the main keys."""
        return self.main.reidentification.rate

    def verdicts(self, policy: Policy | None = None) -> tuple[Verdict, ...]:
        """Whether each limit of the policy is kept: the one that the file was assessed with, unless another is given.

        On a key set whose keys were perturbed, a limit on an attack that stands that (record linkage) and that goes by
        all of these keys counts in place of k, risk and rate. Where all keys are numeric, so does a limit on a measure
        of them.
        """
        limits = self.policy if policy is None else policy
        further = {name: result.verdicts(limits) for name, result in self.further.items()}
        attacks = [
            name
            for name, own in further.items()
            if self.stands_for_counts(name) and any(not is_void(verdict, limits, self.size) for verdict in own)
        ]
        found = [verdict for part in self.sets for verdict in self._of_key_set(part, limits, attacks)]
        if self.household is not None and not self._attacked(self.main, attacks):
            found += self.household.verdicts(limits)
        listed = (*found, *(verdict for own in further.values() for verdict in own), *self.not_measured)
        if not self.sets and not attacks:
            listed = (*not_judged(limits, listed), *listed)
        elif self.scenario.numeric_keys and not any(find(name).for_numeric_keys for name in further if further[name]):
            listed = (*listed, *numeric_keys_not_judged(self.scenario.numeric_keys, listed, limits))
        # A limit that every file keeps is no limit: it makes nothing safe.
        listed = tuple(verdict for verdict in listed if not is_void(verdict, limits, self.size))
        of_loss = tuple(verdict for verdict in listed if verdict.about == "loss")
        # That nothing is given back, or little lost, is no verdict on who can be recognised.
        judged = [verdict for verdict in listed if verdict.about == "risk"]
        return of_loss if all(verdict.name == "given_back" and verdict.holds for verdict in judged) else listed

    def _of_key_set(self, part: KeySetRisk, limits: Policy, attacks: list[str]) -> Iterator[Verdict]:
        """The verdicts on a key set; none where attacks are judged in their place."""
        if self._attacked(part, attacks):
            yield from self._hidden_in_share(part, attacks, limits)
            return
        perturbed = attacks and part.table.keys_not_valid
        hint = f"; {', '.join(attacks)} must go by all of them, as with distance = 'gower' or keys = [...]"
        for verdict in part.verdicts(limits):
            yield replace(verdict, why=verdict.why + hint) if perturbed else verdict

    def _attacked(self, part: KeySetRisk, attacks: list[str]) -> bool:
        """Whether keys of a key set were perturbed, and one of the attacks goes by all of its keys."""
        return bool(part.table.keys_not_valid) and any(self._goes_by(name, part) for name in attacks)

    def _goes_by(self, attack: str, part: KeySetRisk) -> bool:
        return set(getattr(self.further[attack], "variables", ())).issuperset(part.table.keys)

    def _hidden_in_share(self, part: KeySetRisk, attacks: list[str], policy: Policy) -> Iterator[Verdict]:
        """A verdict that is not known where a limit on a share stands in for limits on records, and hides some."""
        limits = {"k": part.k, "risk": part.risk_limit}
        name, limit = next(((name, limit) for name, limit in limits.items() if limit is not None), ("", None))
        found = {each: self.further[each] for each in attacks if self._goes_by(each, part)}
        attack, sure = max(((each, own.found_for_certain) for each, own in found.items()), key=lambda each: each[1])
        if limit is None or not sure or any(v.holds is False for own in found.values() for v in own.verdicts(policy)):
            return
        on = "" if part.name == MAIN else f" on the key set {part.name!r}"
        why = (
            f"{attack} finds {check.counted(sure, 'record')} rightly for certain{on}, which a limit on a share does "
            f"not see; protect them, or set k and risk of the policy to false where only the share counts"
        )
        yield Verdict(name if part.name == MAIN else f"{name}:{part.name}", limit, None, None, why)

    def stands_for_counts(self, name: str) -> bool:
        """Whether a limit on a measure may stand in place of k, risk and rate: where keys are perturbed or numeric."""
        measure = find(name)
        return measure.for_perturbed if self.sets else measure.for_numeric_keys

    @property
    def failures(self) -> tuple[str, ...]:
        """The limits of the policy that the file does not keep, each in one sentence."""
        return tuple(verdict.why for verdict in self.verdicts() if verdict.holds is False)

    @property
    def not_assessed(self) -> tuple[str, ...]:
        """The limits of the policy that could not be assessed, with the reason."""
        return tuple(verdict.why for verdict in self.verdicts() if verdict.holds is None)

    @cached_property
    def repairs(self) -> tuple[Repair, ...]:
        """What would make the limits hold that the file does not keep, one by one; worked out when asked for."""
        failed = [verdict for verdict in self.verdicts() if verdict.holds is False]
        found = [(verdict, self._repair(verdict)) for verdict in failed]
        return tuple(replace(repair, name=verdict.name) for verdict, repair in found if repair is not None)

    def _repair(self, verdict: Verdict) -> Repair | None:
        """What would make a limit hold, as the result says that the limit is on."""
        kind, _, name = verdict.name.partition(":")
        part = next((each for each in self.sets if name in ("", each.name)), None)
        if kind in ("k", "risk", "rate") and part is not None:
            if name and name not in self.scenario.sets:
                # Reconstruction is loaded only where it was asked for.
                from tacita.assessment.disclosed_keys import repair_of_disclosed_keys

                found, unsafe = self.further.get("reconstruction"), max(part.unsafe_by_k, part.unsafe_by_risk)
                keys, rounding = part.table.keys, self.weight_rounding
                return repair_of_disclosed_keys(found, self.scenario, keys, unsafe, rounding)
            return part.repair(kind, self.policy, () if len(self.scenario.sets) == 1 else (part.name,))
        if kind == "mixed_uniqueness" and kind in self.further:
            from tacita.assessment.rounding import rounding as enough

            return enough(self.further[kind], self.policy)
        if kind == "household_risk" and self.household is not None:
            return self.household.repair(self.policy)
        result = self.further.get("reconstruction" if kind == "given_back" else kind)
        return None if result is None else result.repair(self.policy)

    @property
    def safe(self) -> bool:
        """Whether the policy has at least one limit, and every one was assessed and is kept."""
        return all_hold(self.verdicts())

    @cached_property
    def records(self) -> frame.Frame:
        """One row per record: its number, f, F, risk, household risk and how many limits it violates.

        Further key sets have columns of their own, `f:name`, `F:name` and `risk:name`.
        """
        return record_table.every_record(self)

    def to_frame(self) -> frame.Frame:
        """One row per record; the same as `records`."""
        return self.records

    def riskiest(self, most: int = 10, *, values: bool = False) -> frame.Frame:
        """The records with the highest risk, riskiest first (ties by record number).

        Only their numbers and figures, unless `values=True` asks for the values of the keys too, codes with their
        labels. Where all keys are numeric, those with the most violations, then with the fewest records that look like
        them. `riskiest_table` has the same for print.
        """
        return record_table.riskiest(self, check.whole("most", most, 1), values)

    def riskiest_table(self, most: int = 10, *, values: bool = False) -> Table:
        """The same as a table to print, its heads in words."""
        return record_table.in_print(self.riskiest(most, values=values))

    def riskiest_keys(self, most: int = 10) -> Table:
        """The keys of highest risk, with their values: for those who may see the file."""
        return record_table.riskiest_keys(self, check.whole("most", most, 1))

    def threshold_setting(self) -> RiskThreshold | None:
        """What each threshold on the individual risk would mean, set to keep the policy's rate; None without a rate."""
        if not self.sets or self.policy.rate is None:
            return None
        curve = ThresholdCurve.of(self.individual)
        return RiskThreshold(curve.for_expected(self.policy.rate * curve.size), curve)

    def spread_table(self) -> frame.Frame:
        """Minimum, quartiles, mean and maximum of the risk: the table to lay before and after beside each other."""
        return record_table.spreads(self)

    def to_dict(self) -> dict[str, Any]:
        """All figures, no values of the data."""
        return {
            "tacita": __version__,
            "records": self.size,
            "safe": self.safe,
            "verdicts": [verdict.to_dict() for verdict in self.verdicts()],
            "repairs": [repair.to_dict() for repair in self.repairs],
            "key_sets": {part.name: _figures(part) for part in self.sets},
            "household": None if self.household is None else self.household.to_dict(),
            "further": {name: result.to_dict() for name, result in self.further.items()},
            "cautions": list(self.cautions),
            "scenario": self.scenario.to_dict(),
            "policy": self.policy.to_dict(),
        }

    @property
    def headline(self) -> str:
        """The verdict."""
        return text.headline(self)

    def sentences(self) -> list[str]:
        """Records below k and expected re-identifications, by key set; households."""
        return text.sentences(self)

    def tables(self) -> tuple[Table, ...]:
        """Records below each k by key set, the spread of the risk, and what attackers can do."""
        return text.tables(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the figures assume."""
        return tuple(text.assumptions(self))

    def figures(self) -> tuple[str, ...]:
        """The names of the figures that `plot` draws; none where all keys are numeric."""
        return super().figures() if self.sets else ()

    def plot(self, figure: str | None = None, **options: Any) -> Any:
        """The histogram of the risk, an Altair chart."""
        if not self.sets:
            raise TacitaError(
                "numeric keys have no risk to draw; plot a measure of them, as profile.further['confidentiality']."
            )
        return super().plot(figure, **options)

    def __str__(self) -> str:
        # One screen: the parts of a key set stand together, and what is too long is wrapped.
        return text.screen(self)

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(result._repr_html_() for result in self.further.values())


def _figures(part: KeySetRisk) -> dict[str, Any]:
    return {
        "keys": list(part.table.keys),
        "distinct_keys": len(part.table.codes),
        "population_counts_from": part.table.source,
        "k_anonymity": part.k_anonymity.to_dict(),
        "k_anonymity_under_other_rules": {name: result.to_dict() for name, result in part.other_rules.items()},
        "risk": part.individual.to_dict(),
        **part.reidentification.to_dict(),
        "unsafe_by_k": part.unsafe_by_k,
        "unsafe_by_risk": part.unsafe_by_risk,
        "threshold": None if part.threshold is None else _threshold(part),
        "attackers": part.attackers.to_dict(),
    }


def _threshold(part: KeySetRisk) -> dict[str, float]:
    assert part.threshold is not None
    return {**part.threshold._asdict(), "rate": part.threshold.expected / part.reidentification.size}

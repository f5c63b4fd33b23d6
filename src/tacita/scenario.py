"""The disclosure scenario: who the intruder is, what he knows, and the roles of the variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import tomli_w

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.variable_tables import tables_of, variables_of
from tacita.declared import FORMAT, Declared, toml_document

MOST_UNITS = 1e10
"""No population has more units: with a larger one any file would look safe."""
ATTACKS = ("M1", "M2", "M3", "M4", "M5")
MODELS = ("latent", "benedetti_franconi")
RULES = ("one_way", "wildcard", "conservative", "partial", "no_match", "own_category", "sdcmicro")


@dataclass(frozen=True)
class MissingRule:
    """How records with a missing key value count: written `one_way`, `partial(0.5)`, `sdcmicro(1)`.

    >>> MissingRule.parse("partial(categories)")
    MissingRule(name='partial', factor='categories')
    """

    name: str = "one_way"
    """One of `RULES`; section "Missing values" of the documentation defines them."""
    factor: float | str | None = None
    """For `partial`: a number in [0, 1], `categories` or `expected`; for `sdcmicro`: its alpha."""

    def __post_init__(self) -> None:
        check.one_of("missing", self.name, RULES)
        object.__setattr__(self, "factor", check.python_number(self.factor))
        if self.name == "partial" and self.factor in ("categories", "expected"):
            return
        if self.name in ("partial", "sdcmicro"):
            if not isinstance(self.factor, int | float):
                words = ", a number from 0 to 1, as in sdcmicro(1)"
                if self.name == "partial":
                    words = ", as in partial(0.5), partial(categories) or partial(expected)"
                raise TacitaError(f"missing {self.name!r} needs a factor{words}.")
            check.share(f"the factor of {self.name}", self.factor)
        elif self.factor is not None:
            raise TacitaError(f"missing {self.name!r} takes no factor; got {check.given(self.factor)}.")

    @classmethod
    def parse(cls, text: Any) -> Self:
        """The rule that a text names."""
        if isinstance(text, cls):
            return text
        match = re.fullmatch(r"\s*(\w+)\s*(?:\(\s*([\w.+-]+)\s*\))?\s*", str(text))
        if match is None:
            raise TacitaError(f"missing must be one of {', '.join(map(repr, RULES))}; got {check.given(text)}.")
        name, factor = match.groups()
        try:
            return cls(name, None if factor is None else float(factor))
        except ValueError as error:
            if isinstance(error, TacitaError):
                raise
            return cls(name, factor)

    def __str__(self) -> str:
        if self.factor is None:
            return self.name
        # All digits: what is written to a file must come back the same.
        return f"{self.name}({str(self.factor).removesuffix('.0')})"


@dataclass(frozen=True)
class KeySet:
    """A named set of keys that another intruder could know, with its own limits."""

    keys: tuple[str, ...]
    """The key variables of the set."""
    k: int | None = None
    """Its k; None: the policy's."""
    risk: float | None = None
    """Its greatest individual risk; None: the policy's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", check.names("the keys of a key set", self.keys))
        if not self.keys:
            raise TacitaError("a key set must name at least one key.")
        if self.k is not None:
            object.__setattr__(self, "k", check.whole("the k of a key set", self.k, 2))
        if self.risk is not None:
            object.__setattr__(self, "risk", check.python_number(self.risk))
            check.share("the risk of a key set", self.risk, zero=False)

    @classmethod
    def of(cls, given: Any) -> Self:
        """A key set of a list of names, a table, or itself."""
        if isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            unknown = sorted(set(given) - {"keys", "k", "risk"})
            if unknown or "keys" not in given:
                raise TacitaError(f"a key set has the fields keys, k and risk; got {check.quoted(given)}.")
            return cls(**given)
        return cls(given)


@dataclass(frozen=True, kw_only=True)
class Scenario(Declared):
    """The disclosure scenario: what the intruder has, and what the file is.

    Checked when built; `check_against(data)` checks it against a file.

    >>> Scenario(keys=["region", "sex", "age"], weight="w", household="hid").missing
    MissingRule(name='one_way', factor=None)
    """

    section: ClassVar[str] = "scenario"

    keys: tuple[str, ...] = field(default=(), kw_only=False)
    """Categorical variables the intruder knows; together they make the key of a record."""
    weight: str | None = None
    """Sampling weight: how many units of the population a record stands for."""
    household: str | None = None
    """Identifier of the household."""
    household_variables: tuple[str, ...] = ()
    """Variables that must be the same for all members of a household."""
    person: str | None = None
    """Identifier of the unit (person, firm), where one can have several records (panels, months): k, risk, dominance
    and linkage then count units, not records."""
    strata: tuple[str, ...] = ()
    """Variables that split the file into parts that are treated apart."""
    sensitive: tuple[str, ...] = ()
    """What the intruder wants to learn."""
    numeric_keys: tuple[str, ...] = ()
    """Numbers the intruder knows, perhaps with an error."""
    identifiers: tuple[str, ...] = ()
    """Direct identifiers (names, numbers), never released."""
    key_sets: Mapping[str, KeySet] = field(default_factory=dict)
    """Further key sets by name, each with its own limits."""
    known: Mapping[str, float] = field(default_factory=dict)
    """Probability that the intruder knows a variable; 1 unless given. Used by external risk."""
    error_rates: Mapping[str, float] = field(default_factory=dict)
    """Probability that a key differs between the file and the intruder's register; 0 unless given."""
    attack: str = "M3"
    """Which records the intruder tries: M1 one at random, M2 in proportion to f/F, M3 all, M4 each with a given
    probability, M5 each with its inclusion probability 1/w."""
    attack_probability: float | None = None
    """The probability of M4."""
    population_size: float | None = None
    """Number of units in the population, where there are no weights."""
    sampling_fraction: float | None = None
    """n/N, where there are no weights."""
    not_applicable: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Codes of those to whom a question does not apply: a category, not a missing value. The empty text stands for
    a blank."""
    variables: Mapping[str, Variable] = field(default_factory=dict)
    """What is known of variables besides what the file says: scale, missing codes, labels. In a file the table
    `[variables.NAME]`."""
    missing: MissingRule = field(default_factory=MissingRule)
    """How records with a missing key value count; given as text, e.g. "wildcard"."""
    model: str = "latent"
    """How F is estimated where no register gives it: by the latent model from all records (from 100 complete ones on;
    below, as the other one does), or by benedetti_franconi from f and the weights of a key alone."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("keys", "household_variables", "strata", "sensitive", "numeric_keys", "identifiers"):
            put(self, name, check.names(name, getattr(self, name)))
        for name in ("weight", "household", "person"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TacitaError(f"{name} must be the name of a column; got {check.given(value)}.")
        for name in ("attack_probability", "population_size", "sampling_fraction"):
            put(self, name, check.python_number(getattr(self, name)))
        for name in ("key_sets", "known", "error_rates", "not_applicable"):
            table = check.mapping(name, getattr(self, name))
            put(self, name, {key: check.python_number(value) for key, value in table.items()})
        put(self, "missing", MissingRule.parse(self.missing))
        put(self, "variables", variables_of(self.variables))
        put(self, "key_sets", {name: KeySet.of(given) for name, given in self.key_sets.items()})
        put(self, "not_applicable", {name: _codes(name, given) for name, given in self.not_applicable.items()})
        if "keys" in self.key_sets:
            raise TacitaError("a key set cannot be named 'keys', the name of the main one; choose another name.")
        if not self.keys and not self.numeric_keys and not self.key_sets:
            raise TacitaError("a scenario must name at least one key; pass keys=[...].")
        self._check_roles()
        self._check_numbers()

    def _check_roles(self) -> None:
        roles = {"weight": self.weight, "household": self.household, "person": self.person}
        for role, name in roles.items():
            if name is not None and name in self.all_keys:
                raise TacitaError(f"{role} {name!r} cannot be a key at the same time; drop it from the keys.")
        both = [name for name in self.identifiers if name in self.all_keys]
        if both:
            raise TacitaError(f"a direct identifier cannot be a key at the same time: {check.quoted(both)}.")

    def _check_numbers(self) -> None:
        check.one_of("attack", self.attack, ATTACKS)
        check.one_of("model", self.model, MODELS)
        if (self.attack == "M4") != (self.attack_probability is not None):
            raise TacitaError("attack 'M4' and attack_probability go together; give both or neither.")
        if self.attack_probability is not None:
            # With 0 nobody attacks, and every file would be safe.
            check.share("attack_probability", self.attack_probability, zero=False)
        for what in ("known", "error_rates"):
            for name, value in getattr(self, what).items():
                check.share(f"{what} of {name!r}", value)
        outside = [name for name in self.error_rates if name not in self.all_keys]
        if outside:
            raise TacitaError(f"error_rates must be of keys; {check.quoted(outside)} is not a key.")
        sources = ("weight", "population_size", "sampling_fraction")
        given = [name for name in sources if getattr(self, name) is not None]
        if len(given) > 1:
            raise TacitaError(f"give one of weight, population_size and sampling_fraction; got {' and '.join(given)}.")
        if self.population_size is not None:
            _check_population_size(self.population_size)
        if self.sampling_fraction is not None:
            check.share("sampling_fraction", self.sampling_fraction, zero=False)
        if self.attack == "M5" and self.weight is None:
            raise TacitaError("attack 'M5' needs weights; pass weight=... or choose another attack.")

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults; the missing-value rule as text."""
        given = super().to_dict()
        if "variables" in given:
            given["variables"] = tables_of(self.variables)
        return given | {"missing": str(self.missing)} if "missing" in given else given

    def to_toml(self) -> str:
        """The scenario as a TOML text, what is known of variables in tables of their own."""
        said = self.to_dict()
        variables = {"variables": said.pop("variables")} if "variables" in said else {}
        return tomli_w.dumps({"format": FORMAT, self.section: said, **variables})

    @classmethod
    def from_toml(cls, text: str, source: str = "the text") -> Self:
        """The scenario of a TOML text, with the tables `[variables.NAME]` if there are some."""
        scenario = super().from_toml(text, source)
        said = variables_of(toml_document(text, source).get("variables", {}))
        return replace(scenario, variables={**scenario.variables, **said}) if said else scenario

    @property
    def all_keys(self) -> tuple[str, ...]:
        """Every categorical key of every key set, once."""
        named = [name for key_set in self.key_sets.values() for name in key_set.keys]
        return tuple(dict.fromkeys([*self.keys, *named]))

    @property
    def roles(self) -> frozenset[str]:
        """The columns of which the scenario says what they are: keys, ids, weight, strata, direct identifiers."""
        single = [name for name in (self.weight, self.household, self.person) if name is not None]
        return frozenset({*self.all_keys, *self.numeric_keys, *self.strata, *self.identifiers, *single})

    @property
    def sets(self) -> dict[str, KeySet]:
        """All key sets by name, the main one first under the name `keys`."""
        main = {"keys": KeySet(self.keys)} if self.keys else {}
        return main | dict(self.key_sets)

    def check_against(self, data: Data) -> None:
        """Every variable named here is in the data, and there are records."""
        roles: dict[str, tuple[str, ...]] = {
            "keys": self.all_keys,
            "weight": (self.weight,) if self.weight else (),
            "household": (self.household,) if self.household else (),
            "person": (self.person,) if self.person else (),
            "household_variables": self.household_variables,
            "strata": self.strata,
            "sensitive": self.sensitive,
            "numeric_keys": self.numeric_keys,
            "identifiers": self.identifiers,
            "known": tuple(self.known),
            "not_applicable": tuple(self.not_applicable),
            "variables": tuple(self.variables),
        }
        for role, names in roles.items():
            check.columns_exist(role, names, data.columns)
        if len(data) == 0:
            raise TacitaError("the file has no records; there is nothing to assess.")
        if self.population_size is not None and self.population_size < (data.original_size or data.size):
            units = data.original_size or (data.unit_places(self.person)[1] if data.condensed is None else data.size)
            if self.population_size < units:
                of = "records" if units == data.size else "units"
                raise TacitaError(
                    f"population_size must be at least the {units:,} {of} of the file; got {self.population_size!r}."
                )
        if self.sampling_fraction is not None and data.size / self.sampling_fraction > MOST_UNITS:
            raise TacitaError(
                f"sampling_fraction must leave at most {MOST_UNITS:g} units in the population, with "
                f"{check.counted(data.size, 'record')} at least {data.size / MOST_UNITS:g}; got "
                f"{self.sampling_fraction!r}."
            )


def _check_population_size(size: Any) -> None:
    if check.number("population_size", size) < 1:
        raise TacitaError(f"population_size must be at least 1; got {check.given(size)}.")
    if size > MOST_UNITS:
        raise TacitaError(
            f"population_size must be at most {MOST_UNITS:g}, more than any population has; got {check.given(size)}."
        )


def restricted(scenario: Scenario, columns: Sequence[str]) -> Scenario | None:
    """The scenario of a file that has only these columns: roles of others are dropped. None if no key is left."""
    there = set(columns)
    given: dict[str, Any] = {}
    for name in ("keys", "household_variables", "strata", "sensitive", "numeric_keys", "identifiers"):
        given[name] = tuple(each for each in getattr(scenario, name) if each in there)
    for name in ("weight", "household", "person"):
        given[name] = getattr(scenario, name) if getattr(scenario, name) in there else None
    for name in ("known", "not_applicable", "variables"):
        given[name] = {each: value for each, value in getattr(scenario, name).items() if each in there}
    sets = {name: tuple(each for each in key_set.keys if each in there) for name, key_set in scenario.key_sets.items()}
    given["key_sets"] = {name: replace(scenario.key_sets[name], keys=keys) for name, keys in sets.items() if keys}
    keys = {*given["keys"], *(each for keys in sets.values() for each in keys)}
    given["error_rates"] = {each: value for each, value in scenario.error_rates.items() if each in keys}
    if scenario.attack == "M5" and given["weight"] is None:
        given["attack"] = "M3"
    return replace(scenario, **given) if keys or given["numeric_keys"] else None


def with_codes(data: Data, scenario: Scenario) -> Data:
    """The data with what the scenario declares of variables, as if it came with them: scales, missing codes, and codes
    for not applicable."""
    data = data.with_declared(scenario.variables)
    said: dict[str, Variable] = {}
    for name, codes in scenario.not_applicable.items():
        known = data.variable(name)
        unsaid = [code for code in codes if code not in known.not_applicable]
        if unsaid and name in data.columns:
            said[name] = replace(known, not_applicable=(*known.not_applicable, *unsaid))
    return replace(data, variables={**data.variables, **said}) if said else data


def checked(scenario: Any) -> Scenario:
    """The scenario itself, or that of a table or a TOML file; anything else is an error that says how to make one."""
    opened = scenario if isinstance(scenario, Scenario) else Scenario.opened(scenario)
    if opened is None:
        kind = type(scenario).__name__
        raise TacitaError(
            f"scenario must be a Scenario; got {kind}, pass Scenario(keys=[...]) or the path of a file 'scenario.toml'."
        )
    return opened


def prepared_data(data: Any, scenario: Scenario) -> Data:
    """Data of any kind, checked against a scenario, with the scenario's codes for not applicable declared."""
    opened = Data.of(data)
    checked(scenario).check_against(opened)
    prepared = with_codes(opened, scenario)
    # A release knows what it was made of.
    original = getattr(data, "original", None)
    return prepared.released_from(original) if isinstance(original, Data) else prepared


def _codes(name: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str | int | float):
        return (given,)
    try:
        codes = tuple(check.python_number(code) for code in given)
    except TypeError:
        raise TacitaError(f"not_applicable of {name!r} must be a list of codes; got {check.given(given)}.") from None
    if None in codes:
        raise TacitaError(f"not_applicable of {name!r} must be codes; got None, write '' for a blank.")
    return codes

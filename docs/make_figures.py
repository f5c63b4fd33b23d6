"""Draw the figures of the documentation from the demo surveys: `python docs/make_figures.py`.

Names after it draw those alone, as `python docs/make_figures.py risk_histogram suda`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tacita as tc

FIGURES = Path(__file__).resolve().parent / "figures"


KEYS = ["turnover", "exports"]


def one_industry() -> Any:
    """The enterprises of one industry, their turnover and exports masked by noise."""
    firms = tc.business_survey(exporters=True).data
    masked = tc.log_noise(firms, KEYS, sd=0.5)
    rows = (firms.table["industry"] == "28").arg_true().to_numpy()
    return tc.risk.confidentiality(firms.take(rows), masked.take(rows), tc.Scenario(numeric_keys=KEYS), log=True)


def many_enterprises() -> Any:
    """200,000 enterprises by industry."""
    firms = tc.business_survey(200_000, population=1_200_000, exporters=True).data
    masked = tc.log_noise(firms, KEYS, sd=0.5)
    return tc.risk.confidentiality(
        firms, masked, tc.Scenario(numeric_keys=KEYS), strata=["industry"], alpha=0.001, log=True
    )


def eight_industries() -> dict[str, Any]:
    """The distributions behind the confidentiality plot on turnover, by industry, and the plot at several alphas."""
    firms = tc.business_survey(exporters=True).data
    pair = firms, tc.log_noise(firms, ["turnover"], sd=0.5), tc.Scenario(numeric_keys=["turnover"])
    found = tc.risk.confidentiality(*pair, strata=["industry"], log=True)
    kinds = ("densities", "comparison_histograms", "likelihood_ratio")
    charts = {kind: found.plot(kind) for kind in kinds}
    return charts | {"alphas": tc.risk.confidentiality_alphas(*pair, strata=["industry"], log=True).plot()}


def variants() -> dict[str, Any]:
    """The figures of the page on variants, as its examples draw them."""
    import numpy as np

    from tacita.plots.internal.released import released
    from tacita.plots.internal.robust_intervals import robust_intervals
    from tacita.plots.internal.units import units
    from tacita.risk.interval.robust_interval_disclosure import robust_interval_disclosure

    firms = tc.business_survey(exporters=True).data
    masked = tc.log_noise(firms, KEYS, sd=0.5)
    rows = (firms.table["industry"] == "18").arg_true().to_numpy()
    pair = firms.take(rows), masked.take(rows)
    found = tc.risk.confidentiality(*pair, tc.Scenario(numeric_keys=KEYS), log=True)
    survey = tc.household_survey()
    grouped = tc.Plan(
        [
            tc.Recode("age", breaks=[15, 30, 50, 65]),
            tc.GroupRare(["citizenship"], least=300),
            tc.GroupRare(["status"], least_share=0.06),
        ]
    ).apply(survey.data, survey.scenario)
    logs = [data.with_columns({name: np.log1p(data.numbers(name)) for name in KEYS}) for data in pair]
    robust = robust_interval_disclosure(*logs, tc.Scenario(numeric_keys=KEYS), k=0.5, k2=0.1)
    return {
        "confidentiality_table": found.plot(table=True),
        "confidentiality_strata": tc.risk.confidentiality(
            firms, masked, tc.Scenario(numeric_keys=KEYS), strata=["industry"], log=True
        ).plot(by="stratum"),
        "categorical_confidentiality": tc.risk.categorical_confidentiality(
            survey.data, grouped, survey.scenario
        ).plot(),
        "released": released(*pair, KEYS, log=True),
        "units": units(found, *pair),
        "robust_intervals": robust_intervals(robust, *logs),
    }


def usual_plan(survey: Any) -> Any:
    """What the usual plan gives back of the household survey, as its page has it."""
    scenario = tc.Scenario(keys=["region", "sex", "age", "citizenship"], weight="weight", household="household")
    importance = {"sex": 1, "age": 2, "citizenship": 3, "region": 4}
    suppress = tc.Suppress(k=3, importance=importance, closed=False)
    plan = tc.Plan([tc.Recode("age", width=5), tc.TopCode("size", at=4), suppress])
    return tc.risk.reconstruction(survey.data, plan.apply(survey.data, scenario), scenario)


def outside_file() -> Any:
    """What an intruder with a file of his own finds in a release, as the page has it."""
    survey = tc.household_survey()
    scenario = tc.Scenario(keys=["region", "sex", "age", "citizenship"], numeric_keys=["income"])
    plan = tc.Plan([tc.Recode("age", width=5), tc.Noise(["income"], 0.05), tc.Suppress(k=3)])
    released = plan.apply(survey.data, scenario, seed=1)
    return tc.risk.external_risk(survey.data, released, scenario)


def coarser(survey: Any) -> Any:
    """The release of the page on the loss in values."""
    plan = tc.Plan([tc.Recode("age", width=5), tc.TopCode("size", at=4), tc.Suppress(k=3)])
    return plan.apply(survey.data, survey.scenario)


def before_and_after() -> dict[str, Any]:
    """The figures of the page on figures before and after, as its examples draw them."""
    from tacita.comparison.before_after import before_after

    survey = tc.household_survey()
    plan = tc.Plan([tc.Recode("age", width=10), tc.Suppress(k=3)])
    released = plan.apply(survey.data, survey.scenario)
    names = ["age", "sex", "citizenship", "status"]
    found = before_after(
        survey.data, released, survey.scenario, variables=names, pairs=[("sex", "status")], public=True
    )
    firms = tc.business_survey(exporters=True)
    masked = tc.log_noise(firms.data, KEYS, sd=0.5)
    business = before_after(firms.data, masked, firms.scenario, by="industry", public=True)
    return {
        "before_after_bars": found.plot("before_after_bars"),
        "before_after_mosaic": found.plot("before_after_mosaic"),
        "before_after_density": business.plot("before_after_density"),
        "before_after_boxes": business.plot("before_after_boxes", variable="turnover"),
        "before_after_lorenz": business.plot("before_after_lorenz"),
        "before_after_correlations": business.plot("before_after_correlations"),
        "risk_utility_map": four_noises(firms).plot(),
    }


def four_noises(firms: Any) -> Any:
    """Enterprises with more and more noise, by links that an intruder gets right and correlations lost."""
    from tacita.comparison.before_after import before_after
    from tacita.comparison.risk_utility import RiskUtilityPoint, risk_utility

    def linked(released: Any) -> float:
        return float(tc.risk.distance_linkage(firms.data, released, firms.scenario).share_correct)

    points = []
    for sd in (0.1, 0.2, 0.5, 1.0):
        noisy = tc.log_noise(firms.data, list(firms.scenario.numeric_keys), sd=sd)
        change = before_after(firms.data, noisy, firms.scenario).associations.largest_change
        risk = linked(noisy)
        points.append(RiskUtilityPoint(f"noise {sd:g}", risk, change, risk <= 0.1, linked(firms.data)))
    words = {
        "risk_label": "share of enterprises linked rightly",
        "loss_label": "greatest change of a correlation, 0 none",
    }
    return risk_utility(points, **words, risk_limit=0.1)


SURVEY = tc.household_survey
DRAWN: dict[str, Callable[[], Any]] = {
    "risk_histogram": lambda: tc.assess(SURVEY().data, SURVEY().scenario).plot(),
    "suda": lambda: tc.risk.suda(SURVEY().data, SURVEY().scenario).plot(),
    "risk_threshold": lambda: tc.risk.risk_threshold(SURVEY().data, SURVEY().scenario, rate=0.02).plot(),
    "model_check": lambda: tc.risk.model_check(
        SURVEY().data, SURVEY().scenario, SURVEY().population, probability="estimated"
    ).plot(),
    "reconstruction": lambda: usual_plan(SURVEY()).plot(),
    "external_risk": lambda: outside_file().plot(),
    "value_loss": lambda: tc.loss.value_loss(SURVEY().data, coarser(SURVEY()), SURVEY().scenario).plot(),
    "confidentiality": lambda: one_industry().plot(),
    "confidentiality_large": lambda: many_enterprises().plot(),
}
"""Figures by name."""
TOGETHER: dict[Callable[[], dict[str, Any]], tuple[str, ...]] = {
    eight_industries: ("densities", "comparison_histograms", "likelihood_ratio", "alphas"),
    variants: (
        "confidentiality_table",
        "confidentiality_strata",
        "categorical_confidentiality",
        "released",
        "units",
        "robust_intervals",
    ),
    before_and_after: (
        "before_after_bars",
        "before_after_mosaic",
        "before_after_density",
        "before_after_boxes",
        "before_after_lorenz",
        "before_after_correlations",
        "risk_utility_map",
    ),
}
"""Figures that are drawn from the same files."""


def main(names: list[str]) -> None:
    """Draw the figures of these names; all of them without one."""
    known = [*DRAWN, *(name for together in TOGETHER.values() for name in together)]
    wanted = names or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no figure is named {unknown[0]!r}; the names are {', '.join(known)}.")
    charts: dict[str, Any] = {name: draw() for name, draw in DRAWN.items() if name in wanted}
    for draw, together in TOGETHER.items():
        if set(together) & set(wanted):
            charts |= {name: chart for name, chart in draw().items() if name in wanted}
    for name, chart in charts.items():
        tc.save(chart, FIGURES / f"{name}.png", scale=1.5, overwrite=True)


if __name__ == "__main__":
    main(sys.argv[1:])

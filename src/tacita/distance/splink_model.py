"""The Fellegi-Sunter model as Splink estimates it: a second opinion on the one of `tacita.distance.probabilistic`.

Splink gets codes, numbers and block numbers under names of our own, in a DuckDB database in memory that may neither
load extensions nor reach files or the network.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.distance.probabilistic import FIRST_M, LEAST, Mixture, change, em_step, starting_mixture

RULE = "l.block = r.block"
AT_REST = 1e-6
"""The estimate has come to rest if one more step of EM changes nothing by more."""


def splink_mixture(
    x: Floats, y: Floats, x_block: Ints, y_block: Ints, tolerance: Floats, counts: Ints, most: float
) -> Mixture:
    """The mixture that Splink's EM finds for the pairs inside blocks; counts are those of the agreement patterns.

    It starts where the own EM starts, but Splink knows no limit to the share of pairs of the same unit.
    """
    linker = _trained(x, y, x_block, y_block, tolerance, counts, most)
    model = linker.misc.save_model_to_json()
    agree = [comparison["comparison_levels"][1] for comparison in model["comparisons"]]
    m, u = (np.array([_probability(level.get(name)) for level in agree]) for name in ("m_probability", "u_probability"))
    share = float(np.clip(model["probability_two_random_records_match"], LEAST / counts.sum(), 1.0 - LEAST))
    found = Mixture(share, m, u, float("nan"), 0, False)
    further = em_step(counts, found)
    return found._replace(log_likelihood=further.log_likelihood, converged=change(found, further) < AT_REST)


def _trained(x: Floats, y: Floats, x_block: Ints, y_block: Ints, tolerance: Floats, counts: Ints, most: float) -> Any:
    """A Splink linker after its EM."""
    try:
        import duckdb
        from splink import DuckDBAPI, Linker, SettingsCreator
    except ImportError:
        raise TacitaError('engine="splink" needs Splink; install it with pip install "tacita[linkage]".') from None
    options: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    database = duckdb.connect(":memory:", config=options)
    names = ("original", "released")
    for name, values, block in zip(names, (x, y), (x_block, y_block), strict=True):
        database.register("given", _columns(values, block))
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        database.unregister("given")
    database.execute("SET enable_progress_bar = false")
    database.execute("SET enable_external_access = false")
    try:
        with _silence():
            settings = SettingsCreator(**_settings(tolerance, counts, most))
            interface: Any = DuckDBAPI(connection=database)
            make: Any = Linker
            if hasattr(interface, "register"):  # since Splink 5
                linker = make([interface.register(name) for name in names], settings, log_level=None)
            else:
                linker = make(list(names), settings, db_api=interface, set_up_basic_logging=False)
            linker.training.estimate_parameters_using_expectation_maximisation(
                RULE,
                estimate_without_term_frequencies=True,
                fix_u_probabilities=False,
                populate_probability_two_random_records_match_from_trained_values=True,
            )
    except Exception as error:  # its messages may quote the data
        raise TacitaError(
            f"Splink could not estimate the model ({type(error).__name__}); leave engine out or choose other variables."
        ) from None
    return linker


def _columns(values: Floats, block: Ints) -> dict[str, Any]:
    """Records that are in a block, by column."""
    rows = np.flatnonzero(block >= 0)
    columns = {f"v{j}": np.ascontiguousarray(column[rows]) for j, column in enumerate(values.T)}
    return {"unique_id": rows, "block": block[rows], **columns}


def _settings(tolerance: Floats, counts: Ints, most: float) -> dict[str, Any]:
    start = starting_mixture(counts, most)
    return {
        "link_type": "link_only",
        "comparisons": [_comparison(j, width, float(start.u[j])) for j, width in enumerate(tolerance.tolist())],
        "blocking_rules_to_generate_predictions": [RULE],
        "probability_two_random_records_match": most,
        "em_convergence": 1e-8,
        "max_iterations": 5000,
        "retain_matching_columns": False,
    }


def _comparison(at: int, width: float, u: float) -> dict[str, Any]:
    """A variable that is unknown, agrees or differs; EM starts at the u given."""
    name = f"v{at}"
    # DuckDB reads NaN from an array as NULL.
    unknown, agree, differ = f"{name}_l IS NULL OR {name}_r IS NULL", f"abs({name}_l - {name}_r) <= {width!r}", "ELSE"
    levels = [
        {"sql_condition": unknown, "label_for_charts": "unknown", "is_null_level": True},
        {"sql_condition": agree, "label_for_charts": "agree", "m_probability": FIRST_M, "u_probability": u},
        {
            "sql_condition": differ,
            "label_for_charts": "differ",
            "m_probability": 1.0 - FIRST_M,
            "u_probability": 1.0 - u,
        },
    ]
    return {"output_column_name": name, "comparison_levels": levels}


def _probability(value: Any) -> float:
    """A probability kept from 0 and 1; words stand where nothing was observed."""
    known = value if isinstance(value, float) else 0.0
    return float(np.clip(known, LEAST, 1.0 - LEAST))


@contextmanager
def _silence() -> Iterator[None]:
    """No warnings, and nothing logged by Splink."""
    logger = logging.getLogger("splink")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)

"""Log-linear global risk: how many sample uniques are unique in the population, by a Poisson model of the cells."""

from tacita.risk.loglinear.risk import LogLinearRisk, loglinear_risk

__all__ = ["LogLinearRisk", "loglinear_risk"]

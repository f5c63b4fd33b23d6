"""Rules that a release should keep: relations between variables, and totals that were published."""

from tacita.rules.declared import EditRule, Rule, Rules, Total, rule_of
from tacita.rules.findings import Broken, broken_rules, checked_rules

__all__ = ["Broken", "EditRule", "Rule", "Rules", "Total", "broken_rules", "checked_rules", "rule_of"]

"""The key table and what it rests on: codes of keys, missing-value rules, sums that do not depend on order."""

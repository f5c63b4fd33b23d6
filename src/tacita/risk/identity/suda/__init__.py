"""SUDA: special uniques, the records that few variables suffice to single out."""

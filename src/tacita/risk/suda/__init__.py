"""SUDA: special uniques, the records that few variables suffice to single out."""

from tacita.risk.suda.result import Suda, suda, suda_of

__all__ = ["Suda", "suda", "suda_of"]

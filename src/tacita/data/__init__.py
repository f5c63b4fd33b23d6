"""What is known of a survey file: values, labels, scales, record numbers; files in and out; demo surveys."""

from tacita.data.data import Data
from tacita.data.variable import Variable

__all__ = ["Data", "Variable"]

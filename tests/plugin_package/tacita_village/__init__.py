"""A step and a measure for Tacita from outside its tree."""

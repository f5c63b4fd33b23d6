"""Can a record be recognised? Measures of re-identification on categorical keys."""

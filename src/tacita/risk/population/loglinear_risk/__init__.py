"""Log-linear global risk: how many sample uniques are unique in the population, by a Poisson model of the cells."""

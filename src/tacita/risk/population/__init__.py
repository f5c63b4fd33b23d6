"""What a sample says of its population: models of population uniques, and their check against a register."""

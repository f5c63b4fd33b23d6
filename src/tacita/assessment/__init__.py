"""Every measure of one file under a scenario, in one result."""

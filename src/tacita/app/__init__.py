"""The app: pages for those who do not program, over the same scenario, policy and plan as everywhere else."""

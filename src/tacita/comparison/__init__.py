"""An original and its releases, side by side: what an intruder gains, what a researcher loses."""

"""An original and its releases, side by side."""

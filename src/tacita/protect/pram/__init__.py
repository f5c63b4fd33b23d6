"""PRAM: categories exchanged at random by a transition matrix, and tables corrected for it."""

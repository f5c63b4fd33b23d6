"""Shuffling: values change places between records as a model of their ranks says, and relations stay."""

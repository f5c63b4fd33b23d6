"""Demonstration surveys, made from a seed together with the true population behind them."""

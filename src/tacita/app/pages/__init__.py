"""The pages of the app, one module each, in the order of the work."""

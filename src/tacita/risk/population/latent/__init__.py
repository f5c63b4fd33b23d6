"""Risk from a model of the keys: latent classes, a back-off chain, and a measured law around their forecast."""

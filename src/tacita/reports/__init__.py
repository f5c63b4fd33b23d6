"""Reports: what was found of a file or a release, as one page for a committee or for data users."""

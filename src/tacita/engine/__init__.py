"""The only package that knows a database: files that are larger than memory, in DuckDB or on Spark, through Ibis.

An engine groups the records by some variables, with exact sums of weights, and joins what was found of each group back
to the records. Everything else happens in memory, on one row per group, with the same code as for small files. Ibis,
DuckDB and Spark are imported when a file needs them.
"""

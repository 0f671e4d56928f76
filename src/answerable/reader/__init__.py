"""The mind without a model: reads a question into a query plan with the catalog and the values in the data."""

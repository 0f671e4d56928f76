"""What is common to SQL: checking written statements, compiling plans, and the facts of each dialect."""

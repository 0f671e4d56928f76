"""The query plan: one typed language between understanding and execution, its compilers, and the check of written SQL."""

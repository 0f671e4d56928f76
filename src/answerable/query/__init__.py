"""The query plan: one typed language between understanding and execution, its compilers, the check of written SQL."""

"""Personal data: found, and replaced by its kind where it leaves the product."""

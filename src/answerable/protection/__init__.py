"""What stands between the outside and the product: rate limits, personal data, attacks, and content."""

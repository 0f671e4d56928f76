"""A tenant of Okta that exists only in memory, served with Okta's protocol: for trying Answerable without a tenant."""

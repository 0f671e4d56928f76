"""Where the data lives. Each source describes itself as a catalog and runs checked SQL in a hardened worker process."""

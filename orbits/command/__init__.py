"""What every command shares: parser, near misses, the way to a cluster."""

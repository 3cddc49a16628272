"""Making a dataset: systems are drawn, integrated and measured, shard by shard."""

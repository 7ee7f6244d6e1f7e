"""Models that several workloads share, each written in every framework."""

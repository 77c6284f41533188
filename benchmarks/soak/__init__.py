"""`make soak`: hours of churn. Memory, descriptors, tasks and idle processor time are measured every minute."""

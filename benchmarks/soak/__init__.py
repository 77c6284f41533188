"""`make soak`: hours of churn, with memory, descriptors, tasks and idle processor time by the minute."""

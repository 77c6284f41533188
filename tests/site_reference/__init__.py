"""The pages and charts that scripts/site makes from the code."""

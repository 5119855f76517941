"""The learning benchmark: fixed settings, several seeds, results as CSV, curves as drawings."""

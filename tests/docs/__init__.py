"""The pages of the documentation: what they tell a reader to run works."""

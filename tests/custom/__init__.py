"""Games and agents of a user: nothing of them lies in the package."""

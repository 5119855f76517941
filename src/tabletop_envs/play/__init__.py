"""A person at the board: the session, in a terminal or on a page."""

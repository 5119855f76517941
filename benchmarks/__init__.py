"""How fast the library is, alone and beside its peers (README.md has the commands)."""

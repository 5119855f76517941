"""Games between agents and what came of them: records, matches, tournaments, ratings."""

"""The adapters with the stacks they are for; each file is skipped where its stack is not installed."""

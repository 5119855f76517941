"""Each game's rules, on the reference and on the kernel, test by rule."""

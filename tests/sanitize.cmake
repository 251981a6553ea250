# The real programs under ThreadSanitizer.

# The torture: real programs, faults between them, one checker.

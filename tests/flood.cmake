# More than the system can do; stops and reloads under load.

# What happens to Redis in production, on whole stacks.

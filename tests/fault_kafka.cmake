# What happens to Kafka and to the ledger, on whole stacks.

# What happens to Kafka and to the ledger: faults of the parts first, then of
# whole stacks.
foreach(name limits strangers trouble)
  c_test(ledger_${name} integration
    SOURCES integration/test_ledger_${name}.c lib/ledger_fixture.c
    LIBS settle_core)
endforeach()

# Tests of this area, see CMakeLists.txt here.
foreach(name cases durable property read)
  c_test(ledger_${name} integration
    SOURCES integration/test_ledger_${name}.c lib/ledger_fixture.c
    LIBS settle_core)
endforeach()

# What happens to Kafka and to the ledger: faults of the parts first, then of
# whole stacks.
foreach(name damaged trouble)
  c_test(ledger_${name} integration
    SOURCES integration/test_ledger_${name}.c lib/ledger_steps.c
            lib/ledger_fixture.c
    LIBS settle_core)
endforeach()
foreach(name limits strangers)
  c_test(ledger_${name} integration
    SOURCES integration/test_ledger_${name}.c lib/ledger_fixture.c
    LIBS settle_core)
endforeach()

# Whole stacks with a Kafka of their own, for they kill it and take its topics
# away.
add_executable(kafka_hand fault/kafka_hand.c)
target_link_libraries(kafka_hand PRIVATE PkgConfig::rdkafka build_flags)
foreach(name kafka ledger)
  add_test(NAME fault.${name}
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/fault/test_${name}.sh)
  set_tests_properties(fault.${name} PROPERTIES LABELS fault TIMEOUT 300
    RUN_SERIAL ON
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};RAINBENCH=$<TARGET_FILE:rainbench>;KAFKA_HAND=$<TARGET_FILE:kafka_hand>")
endforeach()

# Whole stacks: the real programs with Redis, Kafka and a ledger. Each starts
# its own on free ports; they share the broker that KAFKA_BOOTSTRAP names.
foreach(name quiz kill release states topup reclose rewind redis one_user two_of_each tampered
             verify adopt live bench)
  add_test(NAME e2e.${name}
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_${name}.sh)
  set_tests_properties(e2e.${name} PROPERTIES LABELS e2e TIMEOUT 300
    RUN_SERIAL ON
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};RAINBENCH=$<TARGET_FILE:rainbench>")
endforeach()

# The release build only: ./rain itself, and what measures.
if(NOT SANITIZE)
  add_test(NAME bench.suite
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_bench_suite.sh)
  set_tests_properties(bench.suite PROPERTIES LABELS bench TIMEOUT 900
    RUN_SERIAL ON
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR}")
  add_test(NAME e2e.words
    COMMAND ${PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_words.py)
  set_tests_properties(e2e.words PROPERTIES LABELS e2e TIMEOUT 300 RUN_SERIAL ON
    ENVIRONMENT "RAIN_SOURCE=${PROJECT_SOURCE_DIR}")
endif()

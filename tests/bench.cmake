# The load generator and what it is compared with.
foreach(name schedule tables tally options)
  c_test(bench_${name} unit SOURCES unit/test_bench_${name}.c LIBS bench_core)
endforeach()
foreach(part echo late stall watch gateway step wrong)
  add_test(NAME component.bench_${part}
    COMMAND ${PYTHON3} -B
            ${CMAKE_CURRENT_SOURCE_DIR}/component/test_bench.py ${part})
  set_tests_properties(component.bench_${part} PROPERTIES
    LABELS component TIMEOUT 120
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endforeach()

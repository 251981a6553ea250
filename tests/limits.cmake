# Limits of the gateway, slow and dead peers.
c_test(token_bound unit SOURCES unit/test_token_bound.c LIBS token
       PkgConfig::libjwt)
c_test(gateway_bucket unit SOURCES unit/test_gateway_bucket.c LIBS gateway_core)
c_test(gateway_tables unit SOURCES unit/test_gateway_tables.c LIBS gateway_core)
foreach(part limits crowd peers)
  c_test(gateway_${part} component
    SOURCES component/test_gateway_${part}.c lib/gateway_rig.c
            lib/gateway_fake.c lib/turns.c
    LIBS gateway_core)
endforeach()
# A real gateway, for what only a process shows.
foreach(part files reload idle dead)
  add_test(NAME component.gateway_${part}
    COMMAND ${PYTHON3} -B
            ${CMAKE_CURRENT_SOURCE_DIR}/component/test_gateway_process.py ${part})
  set_tests_properties(component.gateway_${part} PROPERTIES
    LABELS component TIMEOUT 120 SKIP_RETURN_CODE 77
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};SANITIZED=${SANITIZE}")
endforeach()

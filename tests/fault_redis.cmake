# What happens to Redis in production: by one service or more, and on whole
# stacks.
c_test(stranger integration
  SOURCES integration/test_stranger.c lib/stranger_changes.c
          lib/stranger_live.c ${grab_rig}
  LIBS grab_core)
foreach(name adopted edited grab_rights grab_end failover)
  c_test(${name} integration
    SOURCES integration/test_${name}.c ${grab_rig} LIBS grab_core)
endforeach()
foreach(name redis redis_lost)
  add_test(NAME fault.${name}
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/fault/test_${name}.sh)
  set_tests_properties(fault.${name} PROPERTIES LABELS fault TIMEOUT 300
    RUN_SERIAL ON
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};RAINBENCH=$<TARGET_FILE:rainbench>")
endforeach()

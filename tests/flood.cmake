# More than the system can do; stops and reloads under load.
c_test(pace unit SOURCES unit/test_pace.c LIBS grab_core)
c_test(grab_silent integration
  SOURCES integration/test_grab_silent.c ${grab_rig} LIBS grab_core)

# Whole stacks, stopped and flooded.
foreach(name drain flood)
  add_test(NAME fault.${name}
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/fault/test_${name}.sh)
  set_tests_properties(fault.${name} PROPERTIES LABELS fault TIMEOUT 300
    RUN_SERIAL ON
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};RAINBENCH=$<TARGET_FILE:rainbench>")
endforeach()

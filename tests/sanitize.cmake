# The real programs under ThreadSanitizer, in a build of their own (preset
# tsan); and whether what the sanitizers find would be noticed at all.
if(SANITIZE)
  add_executable(seeded sanitize/seeded.c)
  set_target_properties(seeded PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(seeded PRIVATE build_flags)
endif()
if(SANITIZE MATCHES "thread")
  add_custom_target(race DEPENDS rain-gateway grab-service settle-worker
    rainctl seeded)
  add_test(NAME tsan.race
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/sanitize/test_race.sh)
  set_tests_properties(tsan.race PROPERTIES LABELS tsan TIMEOUT 300
    RUN_SERIAL ON
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};SEEDED=$<TARGET_FILE:seeded>")
endif()
if(SANITIZE MATCHES "address")
  add_executable(leaky sanitize/leaky.c)
  set_target_properties(leaky PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(leaky PRIVATE PkgConfig::criterion build_flags)
  add_test(NAME component.leaks_are_noticed
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/sanitize/test_noticed.sh)
  # Criterion sees a leak only if it ends in abort().
  set_tests_properties(component.leaks_are_noticed PROPERTIES LABELS component
    TIMEOUT 60
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};SEEDED=$<TARGET_FILE:seeded>;LEAKY=$<TARGET_FILE:leaky>")
endif()

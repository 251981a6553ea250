# The torture: real programs, faults between them, one checker.

# The apps that tap through the faults and write it down, and the checker.
add_executable(fault_tappers
  fault/tappers.c fault/tappers_app.c fault/tappers_log.c fault/tappers_main.c
  fault/tappers_rude.c)
target_include_directories(fault_tappers PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fault_tappers PRIVATE
  client token net proto base PkgConfig::jansson build_flags)

# The proxies, processes and faults, as a library so that parts can be tested.
add_library(fault STATIC
  fault/activities.c fault/child.c fault/faults.c fault/foreign.c fault/proxy.c
  fault/proxy_pair.c fault/rounds.c fault/schedule.c fault/summary.c
  fault/watch.c fault/world.c fault/world_config.c)
target_include_directories(fault PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fault
  PUBLIC base PkgConfig::libuv PkgConfig::jansson PRIVATE build_flags)
add_executable(fault_torture fault/torture.c)
target_link_libraries(fault_torture PRIVATE fault build_flags)

# The rules of the checker, which read nothing, and what fills their tables.
add_library(fault_check_rules STATIC
  fault/check.c fault/check_answers.c fault/check_events.c fault/check_live.c
  fault/check_money.c fault/check_persons.c fault/check_plan.c)
target_include_directories(fault_check_rules PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fault_check_rules PUBLIC console_core PRIVATE build_flags)
add_executable(fault_check
  fault/check_ledger.c fault/check_lists.c fault/check_log.c fault/check_main.c
  fault/check_redis.c fault/check_topics.c)
target_link_libraries(fault_check PRIVATE
  fault_check_rules grab_core PkgConfig::sqlite3 PkgConfig::hiredis build_flags)
foreach(name fault_check fault_check_books fault_check_live)
  c_test(${name} unit SOURCES unit/test_${name}.c lib/fault_tables.c
         LIBS fault_check_rules)
endforeach()
c_test(fault_check_plan unit
  SOURCES unit/test_fault_check_plan.c fault/check_lists.c lib/fault_tables.c
  LIBS fault_check_rules)
c_test(fault_schedule unit SOURCES unit/test_fault_schedule.c LIBS fault)
c_test(fault_activities unit SOURCES unit/test_fault_activities.c LIBS fault)
c_test(fault_proxy component
  SOURCES component/test_fault_proxy.c lib/turns.c LIBS fault base)

# A minute of it, always the same one. It starts its own Kafka, for it kills it.
add_test(NAME fault.torture COMMAND fault_torture --seed 4 --minutes 1)
set_tests_properties(fault.torture PROPERTIES LABELS fault TIMEOUT 600
  RUN_SERIAL ON
  ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR};REDIS_SERVER=${REDIS_SERVER}")
add_test(NAME fault.torture_of_nothing COMMAND fault_torture --target nowhere)
set_tests_properties(fault.torture_of_nothing PROPERTIES LABELS fault
  PASS_REGULAR_EXPRESSION "no fault of this seed hits 'nowhere'")
add_test(NAME fault.check
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/fault/test_check.sh)
set_tests_properties(fault.check PROPERTIES LABELS fault TIMEOUT 300
  RUN_SERIAL ON
  ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR}")

# Tests of rainctl.
foreach(name activity_json books forecast luckiest plan_file verify_topup wrap)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS console_core)
endforeach()

foreach(name verify verify_live verify_publish)
  c_test(${name} unit SOURCES unit/test_${name}.c lib/verify_case.c LIBS console_core)
endforeach()

add_test(NAME component.check_config
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/component/test_check_config.sh)
add_test(NAME component.example_config
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/component/test_example_config.sh)
add_test(NAME component.failed_start
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/component/test_failed_start.sh)
add_test(NAME component.metrics_doc
  COMMAND ${PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/component/test_metrics_doc.py)
add_test(NAME component.runbook
  COMMAND ${PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/component/test_runbook.py)
add_test(NAME component.plan
  COMMAND ${PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/component/test_plan.py)
add_test(NAME component.jmeter
  COMMAND ${PYTHON3} -B ${CMAKE_CURRENT_SOURCE_DIR}/component/test_jmeter.py)
set_tests_properties(component.plan component.runbook component.check_config component.example_config
  component.failed_start component.metrics_doc component.jmeter PROPERTIES
  LABELS component TIMEOUT 60
  ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RAIN_SOURCE=${PROJECT_SOURCE_DIR}")

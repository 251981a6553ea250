# Tests of lib/base, of the service frame in lib/net, and of the tree itself.
foreach(name amount buf bytes config err histogram id metrics rand)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS base)
endforeach()
c_test(log unit SOURCES unit/test_log.c LIBS base PkgConfig::jansson)

add_executable(test_service_host component/service_host.c)
target_link_libraries(test_service_host PRIVATE net build_flags)
c_test(service component SOURCES component/test_service.c lib/process.c
       lib/http_get.c LIBS base)
target_compile_definitions(test_component_service PRIVATE
  SERVICE_HOST="$<TARGET_FILE:test_service_host>")
add_dependencies(test_component_service test_service_host)

find_program(PYTHON3 python3 REQUIRED)
add_test(NAME tidy.tree COMMAND ${PYTHON3} -B
  ${PROJECT_SOURCE_DIR}/tests/tidy/tidy.py ${PROJECT_SOURCE_DIR})
add_test(NAME tidy.selftest COMMAND ${PYTHON3} -B
  ${PROJECT_SOURCE_DIR}/tests/tidy/test_tidy.py)
set_tests_properties(tidy.tree tidy.selftest PROPERTIES LABELS tidy TIMEOUT 60)

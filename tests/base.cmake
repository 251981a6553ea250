# Tests of lib/base, of the service frame in lib/net, and of the tree itself.
foreach(name amount buf bytes config err id metrics rand)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS base)
endforeach()
c_test(log unit SOURCES unit/test_log.c LIBS base PkgConfig::jansson)

add_executable(test_service_host component/service_host.c)
target_link_libraries(test_service_host PRIVATE net build_flags)

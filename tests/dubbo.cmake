# Tests of this area, see CMakeLists.txt here.
foreach(name codec strangers)
  c_test(dubbo_${name} unit
    SOURCES unit/test_dubbo_${name}.c lib/vectors.c LIBS net)
endforeach()
foreach(name server refusals)
  c_test(dubbo_${name} component
    SOURCES component/test_dubbo_${name}.c lib/dubbo_ask.c lib/dubbo_peer.c
            lib/turns.c lib/vectors.c
    LIBS net)
endforeach()
foreach(name client client_bare client_pick)
  c_test(dubbo_${name} component
    SOURCES component/test_dubbo_${name}.c lib/dubbo_caller.c lib/dubbo_peer.c
            lib/turns.c lib/vectors.c
    LIBS client)
endforeach()

# Real Dubbo peers in Java, of both major versions.
add_executable(test_integration_dubbo_java
  integration/test_dubbo_java.c lib/dubbo_peer.c lib/java_peer.c
  lib/turns.c)
set_target_properties(test_integration_dubbo_java PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_include_directories(test_integration_dubbo_java PRIVATE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(test_integration_dubbo_java PRIVATE
  client PkgConfig::criterion build_flags)
foreach(version 27 33)
  add_test(NAME integration.dubbo_java${version}
    COMMAND sh ${PROJECT_SOURCE_DIR}/tests/java/run.sh ${version}
      ${PROJECT_BINARY_DIR}/java/${version}
      $<TARGET_FILE:test_integration_dubbo_java>)
  set_tests_properties(integration.dubbo_java${version} PROPERTIES
    LABELS "integration;java" SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()

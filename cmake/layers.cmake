# layer(NAME HEADERS... SOURCES... DEPS...): a static library that may only see
# the layers named in DEPS; tests/tidy checks that the includes agree.
function(layer name)
  cmake_parse_arguments(L "" "" "HEADERS;SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${L_SOURCES})
  # "net/stream.h" is found from lib/, "proto/frame.h" from the root: the
  # folder above the layer in both cases.
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH above)
  target_sources(${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${above} FILES ${L_HEADERS})
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(${name} PUBLIC ${L_DEPS} PRIVATE build_flags)
endfunction()

# service(NAME CORE SOURCES... DEPS...): a program of one main.c on top of the
# layer CORE, which holds all the rest so that tests can link it.
function(service name core)
  cmake_parse_arguments(S "" "" "SOURCES" ${ARGN})
  add_executable(${name} ${S_SOURCES})
  target_link_libraries(${name} PRIVATE ${core} build_flags)
endfunction()

# c_test(NAME LABEL SOURCES... LIBS... [ARGS...] [TIMEOUT s]): one program, one
# ctest entry called LABEL.NAME, built into tests/ of the build tree.
function(c_test name label)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LIBS;ARGS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(test_${label}_${name} ${T_SOURCES})
  set_target_properties(test_${label}_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(test_${label}_${name} PRIVATE
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${label}_${name} PRIVATE
    ${T_LIBS} PkgConfig::criterion build_flags)
  add_test(NAME ${label}.${name} COMMAND test_${label}_${name} ${T_ARGS})
  set_tests_properties(${label}.${name} PROPERTIES
    LABELS ${label} TIMEOUT ${T_TIMEOUT}
    ENVIRONMENT "RAIN_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};REDIS_SERVER=${REDIS_SERVER};RAIN_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()

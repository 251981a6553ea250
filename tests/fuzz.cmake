# Fuzz targets: what strangers send, over saved inputs in every build (ctest
# fuzz.replay_NAME), and looked for by libFuzzer with -DFUZZ=ON (ctest
# fuzz.NAME, some seconds each; ./rain fuzz NAME for longer).
set(fuzz_dir ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)

# fuzz_target(NAME LIBS...): fuzz/fuzz_NAME.c and fuzz/corpus/NAME.txt.
function(fuzz_target name)
  set(sources fuzz/fuzz_${name}.c fuzz/fuzz.c)
  if("proto" IN_LIST ARGN)
    list(APPEND sources fuzz/message.c)
  endif()
  add_executable(fuzz_replay_${name} ${sources} fuzz/replay_main.c)
  set(programs fuzz_replay_${name})
  if(FUZZ)
    add_executable(fuzz_${name} ${sources})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND programs fuzz_${name})
    add_test(NAME fuzz.${name} COMMAND ${PYTHON3} -B ${fuzz_dir}/run.py
      $<TARGET_FILE:fuzz_${name}> ${fuzz_dir}/corpus/${name}.txt
      ${PROJECT_BINARY_DIR}/fuzz/${name} 5)
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 60)
  endif()
  foreach(program ${programs})
    set_target_properties(${program} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_include_directories(${program} PRIVATE
      ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${program} PRIVATE ${ARGN} build_flags)
  endforeach()
  add_test(NAME fuzz.replay_${name}
    COMMAND fuzz_replay_${name} ${fuzz_dir}/corpus/${name}.txt)
  set_tests_properties(fuzz.replay_${name} PROPERTIES LABELS fuzz TIMEOUT 60)
endfunction()

fuzz_target(address client net base)
fuzz_target(amount base)
fuzz_target(app_frame proto base)
fuzz_target(claim grab_core base)
fuzz_target(config base)
fuzz_target(dubbo_request net proto base)
fuzz_target(dubbo_result net proto base)
fuzz_target(dubbo_stream net base)
fuzz_target(event settle_core proto base)
fuzz_target(event_text grab_core proto base)
fuzz_target(plan_file console_core proto base)
fuzz_target(redis_reply grab_core client proto base)
fuzz_target(rpc_message gateway_core grab_core proto base)
fuzz_target(server_message proto base)
fuzz_target(token token base PkgConfig::openssl)
fuzz_target(token_keys token base PkgConfig::openssl)

# What a fuzzer is too slow for: OpenSSL reads a thousand PEM files a second.
c_test(token_pem unit SOURCES unit/test_token_pem.c LIBS token
  PkgConfig::openssl)
# Read by libmicrohttpd on a thread of its own, over sockets.
c_test(http_bytes component SOURCES component/test_http_bytes.c LIBS net base)

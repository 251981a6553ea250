# The torture: real programs, faults between them, one checker.

# The apps that tap through the faults and write it down, and the checker.
add_executable(fault_tappers
  fault/tappers.c fault/tappers_app.c fault/tappers_log.c fault/tappers_main.c)
target_include_directories(fault_tappers PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fault_tappers PRIVATE
  client token net proto base PkgConfig::jansson build_flags)

# Tests of lib/base, of the service frame in lib/net, and of the tree itself.
add_executable(test_service_host component/service_host.c)
target_link_libraries(test_service_host PRIVATE net build_flags)

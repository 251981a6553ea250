# Tests of this area, see CMakeLists.txt here.
foreach(name stream stream_addresses stream_connect)
  c_test(${name} component
    SOURCES component/test_${name}.c lib/stream_end.c lib/turns.c LIBS net)
endforeach()

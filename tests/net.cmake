# Tests of this area, see CMakeLists.txt here.
c_test(stream component SOURCES component/test_stream.c lib/turns.c LIBS net)

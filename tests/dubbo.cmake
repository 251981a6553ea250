# Tests of this area, see CMakeLists.txt here.
c_test(dubbo_codec unit SOURCES unit/test_dubbo_codec.c lib/vectors.c LIBS net)

# Tests of this area, see CMakeLists.txt here.

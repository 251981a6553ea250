# Tests of this area, see CMakeLists.txt here.
c_test(frame unit SOURCES unit/test_frame.c LIBS proto)
c_test(token unit SOURCES unit/test_token.c LIBS token PkgConfig::libjwt
       PkgConfig::openssl)

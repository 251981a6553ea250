# Limits of the gateway, slow and dead peers.
c_test(token_bound unit SOURCES unit/test_token_bound.c LIBS token
       PkgConfig::libjwt)

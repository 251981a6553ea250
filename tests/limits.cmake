# Limits of the gateway, slow and dead peers.
c_test(token_bound unit SOURCES unit/test_token_bound.c LIBS token
       PkgConfig::libjwt)
c_test(gateway_bucket unit SOURCES unit/test_gateway_bucket.c LIBS gateway_core)

# Limits of the gateway, slow and dead peers.
c_test(token_bound unit SOURCES unit/test_token_bound.c LIBS token
       PkgConfig::libjwt)
c_test(gateway_bucket unit SOURCES unit/test_gateway_bucket.c LIBS gateway_core)
foreach(part limits crowd peers)
  c_test(gateway_${part} component
    SOURCES component/test_gateway_${part}.c lib/gateway_rig.c
            lib/gateway_fake.c lib/turns.c
    LIBS gateway_core)
endforeach()

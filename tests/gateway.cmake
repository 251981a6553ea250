# Tests of this area, see CMakeLists.txt here.
c_test(frame unit SOURCES unit/test_frame.c LIBS proto)
c_test(grab_frame unit SOURCES unit/test_grab_frame.c LIBS proto)
c_test(grab_batch unit SOURCES unit/test_grab_batch.c LIBS proto)
c_test(claim_event unit SOURCES unit/test_claim_event.c LIBS proto)
c_test(protocol_doc unit SOURCES unit/test_protocol_doc.c LIBS proto)
c_test(token unit SOURCES unit/test_token.c LIBS token PkgConfig::libjwt
       PkgConfig::openssl)
c_test(gateway_rules unit SOURCES unit/test_gateway_rules.c LIBS gateway_core)
c_test(token_locked unit SOURCES unit/test_token_locked.c LIBS token)
c_test(gateway_edge unit SOURCES unit/test_gateway_edge.c LIBS gateway_core)
foreach(part door hello grab bounds edge)
  c_test(gateway_${part} component
    SOURCES component/test_gateway_${part}.c lib/gateway_rig.c
            lib/gateway_fake.c lib/turns.c
    LIBS gateway_core)
endforeach()

# What somebody hostile tried on the way of the money.
c_test(lua_reclose integration
  SOURCES integration/test_lua_reclose.c lib/lua_run.c lib/redis_server.c
  LIBS lua_scripts PkgConfig::openssl)
c_test(worker_new_log integration
  SOURCES integration/test_worker_new_log.c lib/worker_rig.c
          lib/ledger_fixture.c lib/kafka_broker.c lib/turns.c
  LIBS settle_core)
c_test(grab_forgotten integration
  SOURCES integration/test_grab_forgotten.c ${grab_rig} LIBS grab_core)
c_test(ledger_reclosed integration
  SOURCES integration/test_ledger_reclosed.c lib/ledger_fixture.c
  LIBS settle_core)
c_test(fence_untracked integration
  SOURCES integration/test_fence_untracked.c lib/kafka_read.c ${grab_rig}
  LIBS grab_core)
c_test(relay_set_lost integration
  SOURCES integration/test_relay_set_lost.c lib/kafka_read.c ${grab_rig}
  LIBS grab_core)
c_test(relay_topic_lost integration
  SOURCES integration/test_relay_topic_lost.c lib/kafka_read.c ${grab_rig}
  LIBS grab_core)

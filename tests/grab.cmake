# The grab-service: grabs in batches, the relay, the keeper, the fence.
c_test(batch unit SOURCES unit/test_batch.c LIBS grab_core)
c_test(event_text unit SOURCES unit/test_event_text.c LIBS grab_core)
c_test(grab_answer unit SOURCES unit/test_grab_answer.c LIBS grab_core)
c_test(grab_decisions unit SOURCES unit/test_grab_decisions.c LIBS grab_core)
c_test(adopt unit SOURCES unit/test_adopt.c LIBS grab_core)
c_test(roll unit SOURCES unit/test_roll.c LIBS grab_core)
set(grab_rig lib/grab_rig.c lib/fake_ledger.c lib/lua_run.c
    lib/redis_server.c lib/turns.c)
foreach(name path late elsewhere service stands)
  c_test(grab_${name} integration
    SOURCES integration/test_grab_${name}.c ${grab_rig} LIBS grab_core)
endforeach()
c_test(grab_live integration
  SOURCES integration/test_grab_live.c lib/random_rule.c ${grab_rig}
  LIBS grab_core)
c_test(grab_lost integration
  SOURCES integration/test_grab_lost.c lib/cut_proxy.c ${grab_rig}
  LIBS grab_core)
foreach(name relay_publish relay_away relay_keeper relay_live relay_topup fence_restart)
  c_test(${name} integration
    SOURCES integration/test_${name}.c lib/kafka_read.c ${grab_rig}
    LIBS grab_core)
endforeach()
c_test(grab_process integration
  SOURCES integration/test_grab_process.c lib/process.c ${grab_rig}
  LIBS grab_core)
add_dependencies(test_integration_grab_process grab-service)
c_test(grab_trouble integration
  SOURCES integration/test_grab_trouble.c lib/redis_fake.c ${grab_rig}
  LIBS grab_core)

# The texts, the allocation and the plan; ActivityService on a real Redis.
foreach(name claim allocate plan)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS grab_core)
endforeach()
foreach(name create entropy load lost state)
  c_test(activity_${name} integration
    SOURCES integration/test_activity_${name}.c lib/activity_rig.c
            lib/cut_proxy.c lib/fake_ledger.c lib/lua_run.c lib/redis_server.c lib/turns.c
    LIBS grab_core)
endforeach()

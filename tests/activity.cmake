# The texts, the allocation and the plan; ActivityService on a real Redis.
foreach(name claim allocate plan plan_tiers tranche activity_job)
  c_test(${name} unit SOURCES unit/test_${name}.c LIBS grab_core)
endforeach()
# How money is split: rules at random, and the odds of each place.
c_test(allocate_many unit TIMEOUT 300
  SOURCES unit/test_allocate_many.c lib/random_rule.c LIBS plan)
c_test(allocate_live unit
  SOURCES unit/test_allocate_live.c lib/random_rule.c LIBS plan)
c_test(allocate_fair unit TIMEOUT 300
  SOURCES unit/test_allocate_fair.c LIBS plan m)
c_test(allocate_places unit SOURCES unit/test_allocate_places.c LIBS plan m)
foreach(name adopt create entropy load lost split state topup)
  c_test(activity_${name} integration
    SOURCES integration/test_activity_${name}.c lib/activity_rig.c
            lib/cut_proxy.c lib/fake_ledger.c lib/lua_run.c lib/redis_server.c lib/turns.c
    LIBS grab_core)
endforeach()

# What somebody hostile tried on the way of the money.
c_test(lua_reclose integration
  SOURCES integration/test_lua_reclose.c lib/lua_run.c lib/redis_server.c
  LIBS lua_scripts)

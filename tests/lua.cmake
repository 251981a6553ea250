# The scripts of lua/ against a real Redis.
foreach(name embed grab live live_edited refuse release activity topup relay fence)
  c_test(lua_${name} integration
    SOURCES integration/test_lua_${name}.c lib/lua_run.c lib/redis_server.c
    LIBS lua_scripts PkgConfig::openssl)
endforeach()

# Tests of this area, see CMakeLists.txt here.
c_test(redis_classify unit SOURCES unit/test_redis_classify.c LIBS client)
c_test(redis_url unit SOURCES unit/test_redis_url.c LIBS client)
c_test(redis_call unit SOURCES unit/test_redis_call.c LIBS client)
foreach(name hello fake end)
  c_test(redis_${name} component
    SOURCES component/test_redis_${name}.c lib/redis_fake.c lib/redis_rig.c
            lib/turns.c
    LIBS client PkgConfig::openssl)
endforeach()
foreach(name lost script transaction user)
  c_test(redis_${name} integration
    SOURCES integration/test_redis_${name}.c lib/redis_rig.c
            lib/redis_server.c lib/turns.c
    LIBS client PkgConfig::openssl)
endforeach()
